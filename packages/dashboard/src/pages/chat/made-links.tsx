import type { ReactNode } from 'react';
import { Link, matchPath } from 'react-router';
import type { ChatTurn } from '../../shell/api';
import { patterns } from '../../shell/paths';
import { AutomationsIcon, RunsIcon, SkillsIcon, WorkersIcon } from '../../ui/icons';
import styles from './turn.module.css';

const PAGES: [pattern: string, param: string, name: string, icon: ReactNode][] = [
  [patterns.worker, 'workerId', 'Worker', <WorkersIcon key="w" />],
  [patterns.workerRun, 'runId', 'Run', <RunsIcon key="r" />],
  [patterns.automation, 'automationId', 'Automation', <AutomationsIcon key="a" />],
  [patterns.skill, 'slug', 'Skill', <SkillsIcon key="s" />],
];

/** Pages about what the agent made or looked at, each once. They are the dashboard's, whatever host the answer gives them. */
export function MadeLinks({ turn }: { turn: ChatTurn }) {
  const links = new Set(turn.parts.flatMap((part) => (part.type === 'tool_call' ? part.links : [])));
  const places = [...links].flatMap(placeOf);
  if (places.length === 0) return null;
  return (
    <ul className={styles.links} aria-label="Pages of it">
      {places.map(({ path, name, id, icon }) => (
        <li key={path}>
          <Link to={path} className={styles.link}>
            {icon}
            <span>
              {name} <b>{id}</b>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

const ID_SHOWN = 28;

function placeOf(link: string) {
  const path = URL.parse(link, location.origin)?.pathname ?? '';
  for (const [pattern, param, name, icon] of PAGES) {
    const id = matchPath(pattern, path)?.params[param];
    if (id) return [{ path, name, icon, id: id.length > ID_SHOWN ? `${id.slice(0, ID_SHOWN)}…` : id }];
  }
  return [];
}
