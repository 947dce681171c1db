import { useMemo } from 'react';
import { useRefreshedRun } from './use-refreshed-run';
import { buildWorkerRunSource } from './worker-runs';

const REFRESH_MS = 500;

/** Follows a worker's run live, with its current steps and approvals. */
export function useWorkerRun(workspaceId: string | undefined, runId: string) {
  const source = useMemo(() => buildWorkerRunSource(workspaceId, runId), [workspaceId, runId]);
  return useRefreshedRun(source, REFRESH_MS);
}
