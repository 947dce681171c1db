import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, matchPath } from 'react-router';
import type { ChatTurn } from '../../shell/api';
import { patterns } from '../../shell/paths';
import { AutomationsIcon, ConnectionsIcon, RunsIcon, SkillsIcon, WorkersIcon } from '../../ui/icons';
import styles from './turn.module.css';

const PAGES: [pattern: string, param: string, name: string, icon: ReactNode][] = [
  [patterns.worker, 'workerId', 'Worker', <WorkersIcon key="worker" />],
  [patterns.workerRun, 'runId', 'Run', <RunsIcon key="run" />],
  [patterns.automation, 'automationId', 'Automation', <AutomationsIcon key="automation" />],
  [patterns.skill, 'slug', 'Skill', <SkillsIcon key="skill" />],
];

/** The tool whose link leads to a service, where the member consents to a connection. */
const CONNECT_TOOL = 'connect_app';

/**
 * Links to the pages of what the agent created or read, each once. They stay in the dashboard, whatever host the
 * response names; only a consent is external.
 */
export function TurnLinks({ turn }: { turn: ChatTurn }) {
  const calls = turn.parts.filter((part) => part.type === 'tool_call');
  const pageLinks = new Set(calls.flatMap(({ name, links }) => (name === CONNECT_TOOL ? [] : links)));
  const consentLinks = new Set(calls.flatMap(({ name, links }) => (name === CONNECT_TOOL ? links : [])));
  const pages = [...pageLinks].flatMap(resolvePageLink);
  const consentUrls = [...consentLinks].flatMap(parseConsentUrl);
  if (pages.length + consentUrls.length === 0) return null;
  return (
    <Group component="ul" gap="xs" align="stretch" aria-label="Related pages">
      {consentUrls.map((url) => (
        <li key={url.href}>
          <a href={url.href} target="_blank" rel="noopener noreferrer" className={`boxed-link ${styles.link}`}>
            <ConnectionsIcon />
            <span>
              Grant access at <b>{url.host}</b>
            </span>
          </a>
        </li>
      ))}
      {pages.map(({ path, name, id, icon }) => (
        <li key={path}>
          <Link to={path} className={`boxed-link ${styles.link}`}>
            {icon}
            <span>
              {name} <b>{id}</b>
            </span>
          </Link>
        </li>
      ))}
    </Group>
  );
}

function parseConsentUrl(link: string): URL[] {
  const url = URL.parse(link);
  return url && ['https:', 'http:'].includes(url.protocol) ? [url] : [];
}

const ID_CHARS_SHOWN = 28;

function resolvePageLink(link: string) {
  const path = URL.parse(link, location.origin)?.pathname ?? '';
  for (const [pattern, param, name, icon] of PAGES) {
    const id = matchPath(pattern, path)?.params[param];
    if (id) return [{ path, name, icon, id: id.length > ID_CHARS_SHOWN ? `${id.slice(0, ID_CHARS_SHOWN)}…` : id }];
  }
  return [];
}
