import { Link } from 'react-router';
import { roleAtLeast } from '../../accounts/roles';
import { workerPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import table from '../../ui/data-table.module.css';
import { dollars, duration, figure } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Usage } from './usage';
import styles from './usage-page.module.css';

/** From this share of a budget on, it is worth a look. */
const NEARLY = 0.8;

type WorkerUsage = Usage['workers'][number];

/** The dearest first. */
export function UsageByWorker({ workers, others }: Pick<Usage, 'workers' | 'others'>) {
  return (
    <Panel title="By worker">
      <table className={`${table.table} ${styles.workers}`}>
        <thead>
          <tr>
            <th>Worker</th>
            <th className={table.number}>Cost</th>
            <th>Budget</th>
            <th className={table.number}>Runs</th>
            <th className={`${table.number} ${styles.wide}`}>Compute time</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={`${worker.id} ${worker.deleted}`}>
              <td>
                {worker.deleted ? `${worker.name} (deleted)` : <Link to={workerPath(worker.id)}>{worker.name}</Link>}
              </td>
              <td className={table.number}>{dollars(worker.cost_usd)}</td>
              <td>
                <Budget worker={worker} />
              </td>
              <td className={table.number}>
                {figure(worker.runs)}
                {worker.failed > 0 && <span className={styles.failed}>{figure(worker.failed)} failed</span>}
              </td>
              <td className={`${table.number} ${styles.wide}`}>{duration(worker.compute_ms)}</td>
            </tr>
          ))}
          {others.workers > 0 && (
            <tr>
              <td>{others.workers === 1 ? 'Another worker' : `${figure(others.workers)} other workers`}</td>
              <td className={table.number}>{dollars(others.cost_usd)}</td>
              <td />
              <td className={table.number}>{figure(others.runs)}</td>
              <td className={`${table.number} ${styles.wide}`}>{duration(others.compute_ms)}</td>
            </tr>
          )}
        </tbody>
      </table>
    </Panel>
  );
}

function Budget({ worker: { id, name, deleted, budget_usd, cost_usd } }: { worker: WorkerUsage }) {
  const mayChange = roleAtLeast(useWorkspace()?.role, 'member');
  if (budget_usd === null) {
    return mayChange && !deleted ? (
      <Link to={workerPath(id, 'workerSettings')}>
        Set one<span className="visually-hidden"> for {name}</span>
      </Link>
    ) : (
      <span className={styles.none}>None</span>
    );
  }
  const share = budget_usd > 0 ? cost_usd / budget_usd : 1;
  const tone = share >= 1 ? 'error' : share >= NEARLY ? 'timeout' : 'success';
  return (
    <div className={styles.budget} data-tone={tone}>
      <span className={styles.bar} aria-hidden="true">
        <span className={styles.spent} style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      <span className={styles.share}>
        {share >= 1 ? `Spent: ${dollars(budget_usd)}` : `${Math.floor(share * 100)} % of ${dollars(budget_usd)}`}
      </span>
    </div>
  );
}
