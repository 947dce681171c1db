import { useMemo } from 'react';
import { useRefreshedRun } from './use-refreshed-run';
import { workerRunSource } from './worker-runs';

const REFRESH_MS = 500;

/** A run of a worker, followed live, with its steps and approvals as they are now. */
export function useWorkerRun(workspaceId: string | undefined, runId: string) {
  const source = useMemo(() => workerRunSource(workspaceId, runId), [workspaceId, runId]);
  return useRefreshedRun(source, REFRESH_MS);
}
