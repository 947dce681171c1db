import type { ReactNode } from 'react';
import { CheckIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';
import type { Connection } from './connection-queries';

const LOOKS: Record<Connection['status'], { tone: Tone; word: string; icon: ReactNode }> = {
  active: { tone: 'success', word: 'Active', icon: <CheckIcon /> },
  pending: { tone: 'timeout', word: 'Awaiting consent', icon: <WaitIcon /> },
  expired: { tone: 'error', word: 'Consent expired', icon: <CrossIcon /> },
  error: { tone: 'error', word: 'Failing', icon: <CrossIcon /> },
};

export function ConnectionStatus({ status }: { status: Connection['status'] }) {
  const { tone, word, icon } = LOOKS[status];
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
