import { Box, Group, Skeleton, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { SettingsLayout } from '../../settings/settings-layout';
import { api, type Usage } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { useWorkspaceQuery } from '../../shell/use-workspace-query';
import { formatDollars, formatDuration, formatMonth, formatNumber } from '../../ui/format';
import { LoadErrorNotice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { DailyUsage } from './daily-usage';
import { UsageByWorker } from './usage-by-worker';
import styles from './usage-page.module.css';

/** @returns `2026-11` @param months added to it */
function addMonths(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7);
}

/** Shows the usage of the workspace's workers in a month, by day and by worker. */
export default function UsagePage() {
  const [search] = useSearchParams();
  const currentMonth = new Date().toISOString().slice(0, 7);
  const month = search.get('month') ?? currentMonth;
  const usage = useWorkspaceQuery(
    (workspaceId) => ['usage', workspaceId, month],
    () => api.worker.GET('/api/usage', { params: { query: { month } } }),
    { placeholderData: keepPreviousData },
  );
  return (
    <SettingsLayout title="Usage" about="Monthly cost of worker runs compared with worker budgets.">
      <Group component="nav" gap="sm" justify="space-between" aria-label="Month">
        <h2>{formatMonth(month)}</h2>
        <Group gap="xs">
          <LinkButton size="xs" variant="default" to={`?month=${addMonths(month, -1)}`}>
            Previous month
          </LinkButton>
          {month < currentMonth && (
            <LinkButton size="xs" variant="default" to={`?month=${addMonths(month, 1)}`}>
              Next month
            </LinkButton>
          )}
        </Group>
      </Group>
      {usage.error && !usage.data ? (
        <LoadErrorNotice what="Usage" error={usage.error} retry={usage.refetch} />
      ) : !usage.data ? (
        <Skeleton height={420} radius={10} />
      ) : (
        <LoadedUsage usage={usage.data} />
      )}
    </SettingsLayout>
  );
}

function LoadedUsage({ usage }: { usage: Usage }) {
  const { total, days, workers, others } = usage;
  return (
    <>
      <Box component="dl" className={`${styles.figures} auto-fit surface`} __vars={{ '--column': '9rem' }}>
        <div>
          <dt>Cost</dt>
          <dd>{formatDollars(total.cost_usd)}</dd>
        </div>
        <div>
          <dt>Runs</dt>
          <dd>{formatNumber(total.runs)}</dd>
          <Text component="dd" fz="sm" c="dimmed">
            {total.failed > 0 ? `${formatNumber(total.failed)} failed` : '0 failed'}
          </Text>
        </div>
        <div>
          <dt>Compute time</dt>
          <dd>{formatDuration(total.compute_ms)}</dd>
        </div>
      </Box>
      {total.runs === 0 && workers.length === 0 ? (
        <Panel title="By day">
          <p className="caption">
            No worker runs finished in this month. Cost and compute time appear here after a run finishes.
          </p>
        </Panel>
      ) : (
        <>
          <DailyUsage days={days} />
          <UsageByWorker workers={workers} others={others} />
        </>
      )}
      <p className="caption">
        Days and months are in UTC. Each worker run is counted on the day it ends. Cost is estimated from CPU time plus
        any cost that code reports with <code>context.cost()</code>. Draft tests are not shown but count toward budgets.
      </p>
    </>
  );
}
