import type { ReactNode } from 'react';
import type { Approval } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

const LOOKS: Record<Approval['status'], { tone: Tone; word: string; icon: ReactNode }> = {
  pending: { tone: 'timeout', word: 'Waits for a decision', icon: <WaitIcon /> },
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  rejected: { tone: 'error', word: 'Rejected', icon: <CrossIcon /> },
  expired: { tone: 'idle', word: 'Expired', icon: <ClockIcon /> },
};

export function ApprovalStatusChip({ status }: { status: Approval['status'] }) {
  const { tone, word, icon } = LOOKS[status];
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
