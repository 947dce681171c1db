import { Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { paths, workerPath } from '../../shell/paths';
import { formatDollars } from '../../ui/format';
import { Meter } from '../../ui/meter';
import { Panel } from '../../ui/panel';
import { BUDGET_WARNING_SHARE, computeBudgetShare } from './budget-share';
import styles from './overview-page.module.css';
import { type Usage, useUsage } from './overview-queries';

const WORKERS_SHOWN = 4;

type WorkerUsage = Usage['workers'][number];

/** Lists workers by the used share of their budget, then the others by cost. Renders nothing without costs. */
export function MonthCostPanel() {
  const { data: usage } = useUsage();
  const workers = usage?.workers.filter((worker) => worker.cost_usd > 0 || worker.budget_usd !== null) ?? [];
  if (workers.length === 0) return null;
  const topWorkers = workers
    .toSorted((a, b) => (computeBudgetShare(b) ?? -1) - (computeBudgetShare(a) ?? -1))
    .slice(0, WORKERS_SHOWN);
  return (
    <Panel title="Cost this month" aside={<Link to={paths.usage}>Usage</Link>}>
      <Stack component="ul" className="divided rows" gap={0}>
        {topWorkers.map((worker) => (
          <li key={`${worker.id} ${worker.deleted}`} className={styles.row}>
            {worker.deleted ? (
              <span className="title-link">{worker.name}</span>
            ) : (
              <Link to={workerPath(worker.id)} className="title-link">
                {worker.name}
              </Link>
            )}
            <WorkerCost worker={worker} />
          </li>
        ))}
      </Stack>
    </Panel>
  );
}

function WorkerCost({ worker }: { worker: WorkerUsage }) {
  const share = computeBudgetShare(worker);
  if (share === null || worker.budget_usd === null) {
    return (
      <Text span className="nowrap" fz="xs" c="dimmed">
        {formatDollars(worker.cost_usd)}
      </Text>
    );
  }
  return (
    <>
      <Text span className="nowrap" fz="xs" c="dimmed">
        {formatDollars(worker.cost_usd)} of {formatDollars(worker.budget_usd)}
      </Text>
      <Meter
        mt="xs"
        style={{ gridColumn: '1 / -1' }}
        share={share}
        tone={share >= 1 ? 'error' : share >= BUDGET_WARNING_SHARE ? 'timeout' : 'accent'}
      />
    </>
  );
}
