import { Link } from 'react-router';
import { useConnections } from '../../connections/connection-queries';
import { ModelMissing } from '../../models/model-missing';
import { newConnectionPath } from '../../shell/paths';
import { dollars } from '../../ui/format';
import { Notice } from '../../ui/notice';
import { toolWords } from '../../workers/agent-tools';
import type { WorkerTemplate } from '../../workers/templates/template';
import styles from './new-worker.module.css';

/** What an agent may use and spend, and what is missing for it. */
export function AgentNeeds({ template }: { template: WorkerTemplate }) {
  const { tools = [], connections = [], max_turns: turns, budget_usd: budget } = template;
  const { data } = useConnections();
  const known = data?.pages.flat().map(({ app }) => app);
  const missing = known ? connections.filter((app) => !known.includes(app)) : [];
  return (
    <>
      <div>
        <h3>It may use</h3>
        <ul className={styles.inputs}>
          {tools.map((tool) => (
            <li key={String(tool)}>{toolWords(String(tool))}</li>
          ))}
        </ul>
        <p className={styles.about}>
          Nothing else{typeof turns === 'number' && `, in at most ${turns} turns`}
          {typeof budget === 'number' && ` and for at most ${dollars(budget)} a run`}.
        </p>
      </div>
      <ModelMissing />
      {missing.map((app) => (
        <Notice
          key={app}
          tone="info"
          title={`${app} is not connected yet`}
          action={<Link to={newConnectionPath(app)}>Connect it</Link>}
        >
          You can make the worker first. Its runs fail until the connection is there.
        </Notice>
      ))}
    </>
  );
}
