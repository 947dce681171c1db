import type { ReactNode } from 'react';
import type { WorkerItem } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, PauseIcon, StopIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

type HealthDisplay = [word: string, tone: Tone, icon: ReactNode];

const HEALTH_DISPLAYS: Record<WorkerItem['health'], HealthDisplay> = {
  ready: ['Ready', 'idle', <WaitIcon key="ready" />],
  healthy: ['Healthy', 'success', <CheckIcon key="healthy" />],
  needs_attention: ['Needs attention', 'error', <CrossIcon key="needs_attention" />],
  missing_secret: ['Missing secret', 'timeout', <ClockIcon key="missing_secret" />],
};
const PAUSED: HealthDisplay = ['Paused', 'idle', <PauseIcon key="paused" />];
const ARCHIVED: HealthDisplay = ['Archived', 'idle', <StopIcon key="archived" />];

/** Returns the look of a worker; paused and archived take precedence over health. */
const getHealthDisplay = ({ status, health }: Pick<WorkerItem, 'status' | 'health'>): HealthDisplay =>
  status === 'paused' ? PAUSED : status === 'archived' ? ARCHIVED : HEALTH_DISPLAYS[health];

export function WorkerHealthChip({ worker }: { worker: Pick<WorkerItem, 'status' | 'health'> }) {
  const [word, tone, icon] = getHealthDisplay(worker);
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
