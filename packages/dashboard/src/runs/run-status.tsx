import type { ReactNode } from 'react';
import type { RunError, RunStatus } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, StopIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

interface Look {
  tone: Tone;
  word: string;
  icon: ReactNode;
}

const LOOKS: Record<RunStatus, Look> = {
  pending: { tone: 'idle', word: 'Waiting', icon: <WaitIcon /> },
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  success: { tone: 'success', word: 'Succeeded', icon: <CheckIcon /> },
  error: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
  timeout: { tone: 'timeout', word: 'Timed out', icon: <ClockIcon /> },
};
const CANCELLED: Look = { tone: 'idle', word: 'Cancelled', icon: <StopIcon /> };

/** The API reports a cancelled run as an error with a code of its own; a person has not failed by stopping it. */
export const lookOf = (status: RunStatus, error?: RunError): Look =>
  error?.code === 'cancelled' ? CANCELLED : LOOKS[status];

export function RunStatusChip({ status, error }: { status: RunStatus; error?: RunError }) {
  const { tone, word, icon } = lookOf(status, error);
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
