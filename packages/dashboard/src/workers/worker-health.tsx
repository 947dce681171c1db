import type { WorkerItem } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, PauseIcon, StopIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type StatusDisplay } from '../ui/status-chip';

const HEALTH_DISPLAYS: Record<WorkerItem['health'], StatusDisplay> = {
  ready: { tone: 'idle', word: 'Ready', icon: <WaitIcon /> },
  healthy: { tone: 'success', word: 'Healthy', icon: <CheckIcon /> },
  needs_attention: { tone: 'error', word: 'Needs attention', icon: <CrossIcon /> },
  missing_secret: { tone: 'timeout', word: 'Missing secret', icon: <ClockIcon /> },
};
const PAUSED: StatusDisplay = { tone: 'idle', word: 'Paused', icon: <PauseIcon /> };
const ARCHIVED: StatusDisplay = { tone: 'idle', word: 'Archived', icon: <StopIcon /> };

/** Returns the look of a worker; paused and archived take precedence over health. */
const getHealthDisplay = ({ status, health }: Pick<WorkerItem, 'status' | 'health'>): StatusDisplay =>
  status === 'paused' ? PAUSED : status === 'archived' ? ARCHIVED : HEALTH_DISPLAYS[health];

export const WorkerHealthChip = ({ worker }: { worker: Pick<WorkerItem, 'status' | 'health'> }) => (
  <StatusChip {...getHealthDisplay(worker)} />
);
