import type { RunStatus, WorkerRun } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';

const QUEUED: StatusDisplay = { tone: 'idle', word: 'Queued', icon: <WaitIcon /> };
const SUCCEEDED: StatusDisplay = { tone: 'success', word: 'Succeeded', icon: <CheckIcon /> };
const FAILED: StatusDisplay = { tone: 'error', word: 'Failed', icon: <CrossIcon /> };
const TIMED_OUT: StatusDisplay = { tone: 'timeout', word: 'Timed out', icon: <ClockIcon /> };
const CANCELLED: StatusDisplay = { tone: 'idle', word: 'Cancelled', icon: <StopIcon /> };
const WAITING: StatusDisplay = { tone: 'idle', word: 'Waiting', icon: <ClockIcon /> };

/** Both surfaces' statuses, with one label for each meaning. */
const STATUS_DISPLAYS: Record<RunStatus | WorkerRun['status'], StatusDisplay> = {
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

export type AnyRunStatus = keyof typeof STATUS_DISPLAYS;

export interface RunStatusDetails {
  status: AnyRunStatus;
  error?: { code: string } | undefined;
  /** A run that sleeps, is tried again later or has called another one: the API says that it is queued. */
  isWaiting?: boolean;
}

/** Automations report a cancelled run as an error with a code of its own; stopping a run is not shown as a failure. */
export function getRunStatusDisplay({ status, error, isWaiting = false }: RunStatusDetails): StatusDisplay {
  if (error?.code === 'cancelled') return CANCELLED;
  return isWaiting && status === 'queued' ? WAITING : STATUS_DISPLAYS[status];
}

export const RunStatusChip = (details: RunStatusDetails) => <StatusChip {...getRunStatusDisplay(details)} />;

export const toRunStatusDetails = ({
  status,
  waiting_for,
}: Pick<WorkerRun, 'status' | 'waiting_for'>): RunStatusDetails => ({
  status,
  isWaiting: waiting_for !== null,
});
