import { Box, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { hasRoleAtLeast } from '../../accounts/roles';
import type { Usage } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { DataTable } from '../../ui/data-table';
import { formatDollars, formatDuration, formatNumber } from '../../ui/format';
import { Panel } from '../../ui/panel';
import type { Column } from '../../ui/table-model';
import styles from './usage-page.module.css';

/** The share of a budget from which the page warns. */
const BUDGET_WARNING_SHARE = 0.8;

type WorkerUsage = Usage['workers'][number];

interface UsageRow extends Pick<WorkerUsage, 'cost_usd' | 'runs' | 'failed' | 'compute_ms'> {
  key: string;
  label: ReactNode;
  budget: ReactNode;
}

const COLUMNS: Column<UsageRow>[] = [
  { head: 'Worker', cell: ({ label }) => label, className: 'wrap-anywhere' },
  { head: 'Cost', cell: ({ cost_usd }) => formatDollars(cost_usd), isNumber: true },
  { head: 'Budget', cell: ({ budget }) => budget },
  {
    head: 'Runs',
    isNumber: true,
    cell: ({ runs, failed }) => (
      <>
        {formatNumber(runs)}
        {failed > 0 && (
          <Box component="span" display="block" fz="xs" c="var(--error)">
            {formatNumber(failed)} failed
          </Box>
        )}
      </>
    ),
  },
  {
    head: 'Compute time',
    cell: ({ compute_ms }) => formatDuration(compute_ms),
    isNumber: true,
    hidesBelow: 'narrow',
  },
];

/** Lists the usage of workers by cost, highest first. */
export function UsageByWorker({ workers, others }: Pick<Usage, 'workers' | 'others'>) {
  const rows: UsageRow[] = workers.map((worker) => ({
    ...worker,
    key: `${worker.id} ${worker.deleted}`,
    label: worker.deleted ? `${worker.name} (deleted)` : <Link to={workerPath(worker.id)}>{worker.name}</Link>,
    budget: <BudgetCell worker={worker} />,
  }));
  if (others.workers > 0) {
    const label = others.workers === 1 ? '1 other worker' : `${formatNumber(others.workers)} other workers`;
    rows.push({ ...others, key: 'others', label, failed: 0, budget: null });
  }
  return (
    <Panel title="By worker">
      <DataTable columns={COLUMNS} rows={rows} getKey={({ key }) => key} className={styles.workers} />
    </Panel>
  );
}

function BudgetCell({ worker: { id, name, deleted, budget_usd, cost_usd } }: { worker: WorkerUsage }) {
  const canEdit = hasRoleAtLeast(useWorkspace()?.role, 'member');
  if (budget_usd === null) {
    return canEdit && !deleted ? (
      <Link to={workerPath(id, 'workerSettings')}>
        Set budget<span className="visually-hidden"> for {name}</span>
      </Link>
    ) : (
      <Text span c="dimmed">
        None
      </Text>
    );
  }
  const share = budget_usd > 0 ? cost_usd / budget_usd : 1;
  const tone = share >= 1 ? 'error' : share >= BUDGET_WARNING_SHARE ? 'timeout' : 'success';
  return (
    <Stack gap={4} miw="5rem" maw="12rem" data-tone={tone}>
      <Box component="span" h={6} bdrs={3} bg="var(--idle-wash)" style={{ overflow: 'hidden' }} aria-hidden="true">
        <Box component="span" display="block" w={`${Math.min(1, share) * 100}%`} h="100%" bdrs={3} bg="var(--tone)" />
      </Box>
      <Text span fz="xs" c="var(--tone)">
        {share >= 1
          ? `Budget of ${formatDollars(budget_usd)} used up`
          : `${Math.floor(share * 100)}% of ${formatDollars(budget_usd)}`}
      </Text>
    </Stack>
  );
}
