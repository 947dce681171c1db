/** Statuses of runs as the automation surface names them. */
import type { RunStatus } from '@gantry/run-engine';

export type ApiRunStatus = 'pending' | 'running' | 'success' | 'error' | 'timeout';

const API_STATUS: Record<RunStatus, ApiRunStatus> = {
  queued: 'pending',
  suspended: 'pending',
  pending_approval: 'pending',
  running: 'running',
  completed: 'success',
  failed: 'error',
  cancelled: 'error',
  rejected: 'error',
  timed_out: 'timeout',
};

export const toApiStatus = (status: RunStatus): ApiRunStatus => API_STATUS[status];

/** Returns the engine statuses that an API status stands for, to filter lists. */
export const toEngineStatuses = (status: ApiRunStatus): RunStatus[] =>
  (Object.keys(API_STATUS) as RunStatus[]).filter((candidate) => API_STATUS[candidate] === status);
