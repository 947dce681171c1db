import type { AutomationItem } from '../shell/api';
import { CheckIcon, PauseIcon, StopIcon } from '../ui/icons';
import { LabeledStatusChip, type StatusDisplay } from '../ui/status-chip';

const STATUS_DISPLAYS: Record<AutomationItem['status'], StatusDisplay> = {
  active: { tone: 'idle', word: 'Active', icon: <CheckIcon /> },
  paused: { tone: 'idle', word: 'Paused', icon: <PauseIcon /> },
  archived: { tone: 'idle', word: 'Archived', icon: <StopIcon /> },
};

export const AutomationStatusChip = ({ status }: { status: AutomationItem['status'] }) => (
  <LabeledStatusChip {...STATUS_DISPLAYS[status]} />
);
