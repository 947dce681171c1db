import type { RunStatus, WorkerRun } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, WaitIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';

const QUEUED: StatusLook = { tone: 'idle', word: 'Queued', icon: <WaitIcon /> };
const SUCCEEDED: StatusLook = { tone: 'success', word: 'Succeeded', icon: <CheckIcon /> };
const FAILED: StatusLook = { tone: 'error', word: 'Failed', icon: <CrossIcon /> };
const TIMED_OUT: StatusLook = { tone: 'timeout', word: 'Timed out', icon: <ClockIcon /> };
const CANCELLED: StatusLook = { tone: 'idle', word: 'Cancelled', icon: <StopIcon /> };
const WAITING: StatusLook = { tone: 'idle', word: 'Waiting', icon: <ClockIcon /> };

/** Both surfaces' statuses, with one label for each meaning. */
const LOOKS: Record<RunStatus | WorkerRun['status'], StatusLook> = {
  queued: QUEUED,
  pending: QUEUED,
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  pending_approval: { tone: 'timeout', word: 'Awaiting decision', icon: <WaitIcon /> },
  completed: SUCCEEDED,
  success: SUCCEEDED,
  failed: FAILED,
  error: FAILED,
  timed_out: TIMED_OUT,
  timeout: TIMED_OUT,
  cancelled: CANCELLED,
  rejected: { tone: 'error', word: 'Rejected', icon: <CrossIcon /> },
};

export type AnyRunStatus = keyof typeof LOOKS;

export interface ShownStatus {
  status: AnyRunStatus;
  error?: { code: string } | undefined;
  /** A run that sleeps, is tried again later or has called another one: the API says that it is queued. */
  isWaiting?: boolean;
}

/** Automations report a cancelled run as an error with a code of its own; stopping a run is not shown as a failure. */
export function getStatusLook({ status, error, isWaiting = false }: ShownStatus): StatusLook {
  if (error?.code === 'cancelled') return CANCELLED;
  return isWaiting && status === 'queued' ? WAITING : LOOKS[status];
}

export const RunStatusChip = (shown: ShownStatus) => <LookChip {...getStatusLook(shown)} />;

export const toShownStatus = ({ status, waiting_for }: Pick<WorkerRun, 'status' | 'waiting_for'>): ShownStatus => ({
  status,
  isWaiting: waiting_for !== null,
});
