import type { AutomationItem } from '../shell/api';
import { CheckIcon, PauseIcon, StopIcon } from '../ui/icons';
import { createStatusChip } from '../ui/status-chip';

export const AutomationStatusChip = createStatusChip<AutomationItem['status']>({
  active: { tone: 'idle', word: 'Active', icon: <CheckIcon /> },
  paused: { tone: 'idle', word: 'Paused', icon: <PauseIcon /> },
  archived: { tone: 'idle', word: 'Archived', icon: <StopIcon /> },
});
