import type { ReactNode } from 'react';
import type { AutomationItem } from '../shell/api';
import { CheckIcon, PauseIcon, StopIcon } from '../ui/icons';
import { StatusChip } from '../ui/status-chip';

const WORDS: Record<AutomationItem['status'], [string, ReactNode]> = {
  active: ['Active', <CheckIcon key="active" />],
  paused: ['Paused', <PauseIcon key="paused" />],
  archived: ['Archived', <StopIcon key="archived" />],
};

export function AutomationStatusChip({ status }: { status: AutomationItem['status'] }) {
  const [word, icon] = WORDS[status];
  return (
    <StatusChip tone="idle" icon={icon}>
      {word}
    </StatusChip>
  );
}
