import type { AutomationItem } from '../shell/api';
import { CheckIcon, PauseIcon, StopIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';

const LOOKS: Record<AutomationItem['status'], StatusLook> = {
  active: { tone: 'idle', word: 'Active', icon: <CheckIcon /> },
  paused: { tone: 'idle', word: 'Paused', icon: <PauseIcon /> },
  archived: { tone: 'idle', word: 'Archived', icon: <StopIcon /> },
};

export const AutomationStatusChip = ({ status }: { status: AutomationItem['status'] }) => (
  <LookChip {...LOOKS[status]} />
);
