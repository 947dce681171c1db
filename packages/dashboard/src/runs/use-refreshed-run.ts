import { useThrottledValue } from '@mantine/hooks';
import { useEffect } from 'react';
import { type RunSource, useRun } from './use-run';

/**
 * Follows a run live, and refetches it when its stream reports a change. @param minIntervalMs minimum time between
 * refetches
 */
export function useRefreshedRun<R>(source: RunSource<R>, minIntervalMs: number) {
  const runState = useRun(source);
  const { run, live, query } = runState;
  const { refetch } = query;
  const changes = useThrottledValue(live.changes, minIntervalMs);
  const over = run !== undefined && source.isOver(run);
  useEffect(() => {
    if (changes > 0 && !over) void refetch();
  }, [changes, over, refetch]);
  return { ...runState, over };
}
