import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type RunItem } from '../shell/api';
import { runPath } from '../shell/paths';
import { Empty } from '../ui/empty';
import { duration } from '../ui/format';
import { FailedToLoad } from '../ui/notice';
import { Timestamp } from '../ui/timestamp';
import styles from './past-runs.module.css';
import { runKeys } from './run-keys';
import { RunStatusChip } from './run-status';
import { RunStrip } from './run-strip';
import { TRIGGER_WORDS } from './run-words';

const PAGE_SIZE = 20;

/** Newest first; each opens its result above. */
export function PastRuns({ automationId, selected }: { automationId: string; selected: string | null }) {
  const { data, error, isError, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: runKeys.list(automationId),
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/runs', {
          params: { query: { automationId, limit: PAGE_SIZE, ...(pageParam && { before: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextBefore }) => nextBefore,
  });
  if (isError && !data) return <FailedToLoad what="The past runs" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={280} />;
  const runs = data.pages.flatMap((page) => page.runs);
  if (runs.length === 0) {
    return (
      <Empty title="It has not run yet">
        <p>Press Run above. Every run is kept here with its log and outputs.</p>
      </Empty>
    );
  }
  return (
    <div className={styles.past}>
      <RunStrip runs={runs} selected={selected} />
      <ol className={styles.list} reversed>
        {runs.map((run) => (
          <Row key={run.runId} automationId={automationId} run={run} isSelected={run.runId === selected} />
        ))}
      </ol>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          Show older runs
        </Button>
      )}
    </div>
  );
}

function Row({ automationId, run, isSelected }: { automationId: string; run: RunItem; isSelected: boolean }) {
  return (
    <li className={styles.row} data-selected={isSelected || undefined}>
      <RunStatusChip status={run.status} error={run.error} />
      <Link
        className={styles.link}
        to={runPath(automationId, run.runId)}
        replace
        preventScrollReset
        aria-current={isSelected || undefined}
      >
        <Timestamp at={run.startedAt ?? run.createdAt} />
      </Link>
      <span className={styles.fact}>{TRIGGER_WORDS[run.trigger]}</span>
      <span className={styles.fact}>{run.version !== null && `v${run.version}`}</span>
      <span className={styles.duration}>{run.durationMs !== null && duration(run.durationMs)}</span>
    </li>
  );
}
