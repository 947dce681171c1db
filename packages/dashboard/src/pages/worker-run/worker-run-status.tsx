import type { ReactNode } from 'react';
import type { WorkerRun } from '../../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, WaitIcon } from '../../ui/icons';
import { StatusChip, type Tone } from '../../ui/status-chip';

const LOOKS: Record<WorkerRun['status'], [word: string, tone: Tone, icon: ReactNode]> = {
  queued: ['Queued', 'idle', <WaitIcon key="queued" />],
  running: ['Running', 'running', <WaitIcon key="running" />],
  pending_approval: ['Waits for a decision', 'timeout', <WaitIcon key="pending_approval" />],
  completed: ['Completed', 'success', <CheckIcon key="completed" />],
  failed: ['Failed', 'error', <CrossIcon key="failed" />],
  cancelled: ['Cancelled', 'idle', <StopIcon key="cancelled" />],
  timed_out: ['Timed out', 'timeout', <ClockIcon key="timed_out" />],
  rejected: ['Rejected', 'error', <CrossIcon key="rejected" />],
};
const WAITING = 'Waiting';

export const wordFor = ({ status, waiting_for }: WorkerRun): string => (waiting_for ? WAITING : LOOKS[status][0]);

export function WorkerRunStatusChip({ run }: { run: WorkerRun }) {
  const [, tone, icon] = LOOKS[run.status];
  return (
    <StatusChip tone={tone} icon={icon}>
      {wordFor(run)}
    </StatusChip>
  );
}
