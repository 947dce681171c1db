import { Box, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type RunItem } from '../shell/api';
import { runPath } from '../shell/paths';
import { EmptyState } from '../ui/empty-state';
import { formatDuration } from '../ui/format';
import links from '../ui/link-row.module.css';
import { ResourceList } from '../ui/resource-list';
import { Timestamp } from '../ui/timestamp';
import styles from './past-runs.module.css';
import { runKeys } from './run-keys';
import { RunStatusChip } from './run-status';
import { RunStrip } from './run-strip';
import { TRIGGER_LABELS } from './trigger-labels';

const PAGE_SIZE = 20;

/** Lists runs, newest first; each opens its result above. */
export function PastRuns({ automationId, selected }: { automationId: string; selected: string | null }) {
  const query = useInfiniteQuery({
    queryKey: runKeys.list(automationId),
    queryFn: ({ pageParam }) =>
      api.automation.GET('/api/runs', {
        params: { query: { automationId, limit: PAGE_SIZE, ...(pageParam && { before: pageParam }) } },
      }),
    initialPageParam: '',
    getNextPageParam: ({ nextBefore }) => nextBefore,
  });
  return (
    <ResourceList
      what="Past runs"
      query={query}
      items={query.data?.pages.flatMap((page) => page.runs)}
      height={280}
      more="Show older runs"
      empty={
        <EmptyState title="No runs yet">
          <p>Select Run above to start a run. Runs appear here with their logs and outputs.</p>
        </EmptyState>
      }
    >
      {(runs) => (
        <Stack gap="md">
          <RunStrip runs={runs} selected={selected} />
          <Box component="ol" miw={0} reversed>
            {runs.map((run) => (
              <PastRunRow key={run.runId} automationId={automationId} run={run} isSelected={run.runId === selected} />
            ))}
          </Box>
        </Stack>
      )}
    </ResourceList>
  );
}

function PastRunRow({ automationId, run, isSelected }: { automationId: string; run: RunItem; isSelected: boolean }) {
  return (
    <li className={`${links.row} ${links.small} ${styles.row}`} data-selected={isSelected || undefined}>
      <RunStatusChip status={run.status} error={run.error} />
      <Link
        className={`${links.link} stretched-link`}
        to={runPath(automationId, run.runId)}
        replace
        preventScrollReset
        aria-current={isSelected || undefined}
      >
        <Timestamp at={run.startedAt ?? run.createdAt} />
      </Link>
      <Text span className="hidden-narrow" c="dimmed" fz="xs">
        {TRIGGER_LABELS[run.trigger]}
      </Text>
      <Text span className="hidden-narrow" c="dimmed" fz="xs">
        {run.version !== null && `v${run.version}`}
      </Text>
      <Text span className="tabular-nums" c="dimmed" fz="xs" ta="right">
        {run.durationMs !== null && formatDuration(run.durationMs)}
      </Text>
    </li>
  );
}
