/** Statuses of runs as the worker surface names them. */
import type { RunStatus } from '@gantry/run-engine';

export type ApiRunStatus = Exclude<RunStatus, 'suspended'>;

/** A suspended run is queued for those who look: it goes on by itself. */
export const toApiStatus = (status: RunStatus): ApiRunStatus => (status === 'suspended' ? 'queued' : status);

/** The engine's statuses that one of ours stands for: how a list is filtered. */
export const toEngineStatuses = (status: ApiRunStatus): RunStatus[] =>
  status === 'queued' ? ['queued', 'suspended'] : [status];
