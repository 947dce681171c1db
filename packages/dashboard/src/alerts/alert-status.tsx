import type { ReactNode } from 'react';
import { CheckIcon, CrossIcon, PauseIcon, WaitIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';
import type { Alert, Delivery } from './alert-labels';

export function AlertStatusChip({ alert: { enabled, disabled_reason } }: { alert: Alert }) {
  if (enabled) {
    return (
      <StatusChip tone="success" icon={<CheckIcon />}>
        On
      </StatusChip>
    );
  }
  return disabled_reason ? (
    <StatusChip tone="error" icon={<CrossIcon />}>
      Disabled by Gantry
    </StatusChip>
  ) : (
    <StatusChip tone="idle" icon={<PauseIcon />}>
      Off
    </StatusChip>
  );
}

const LOOKS: Record<Delivery['status'], { tone: Tone; word: string; icon: ReactNode }> = {
  pending: { tone: 'running', word: 'Pending', icon: <WaitIcon /> },
  delivered: { tone: 'success', word: 'Delivered', icon: <CheckIcon /> },
  dead: { tone: 'error', word: 'Gave up', icon: <CrossIcon /> },
};

export function DeliveryStatusChip({ status }: { status: Delivery['status'] }) {
  const { tone, word, icon } = LOOKS[status];
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}
