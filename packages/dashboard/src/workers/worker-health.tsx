import type { ReactNode } from 'react';
import type { WorkerItem } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, PauseIcon, StopIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

type Look = [word: string, tone: Tone, icon: ReactNode];

const HEALTHS: Record<WorkerItem['health'], Look> = {
  ready: ['Ready', 'idle', <WaitIcon key="ready" />],
  healthy: ['Healthy', 'success', <CheckIcon key="healthy" />],
  needs_attention: ['Needs attention', 'error', <CrossIcon key="needs_attention" />],
  missing_secret: ['Secret missing', 'timeout', <ClockIcon key="missing_secret" />],
};
const PAUSED: Look = ['Paused', 'idle', <PauseIcon key="paused" />];
const ARCHIVED: Look = ['Archived', 'idle', <StopIcon key="archived" />];

/** Returns the look of a worker; paused and archived take precedence over health. */
const getHealthLook = ({ status, health }: Pick<WorkerItem, 'status' | 'health'>): Look =>
  status === 'paused' ? PAUSED : status === 'archived' ? ARCHIVED : HEALTHS[health];

export function WorkerHealth({ worker }: { worker: Pick<WorkerItem, 'status' | 'health'> }) {
  const [word, tone, icon] = getHealthLook(worker);
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
