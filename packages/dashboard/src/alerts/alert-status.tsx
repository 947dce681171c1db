import { CheckIcon, CrossIcon, PauseIcon, WaitIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';
import type { Alert, Delivery } from './alert-labels';

const ON: StatusLook = { tone: 'success', word: 'On', icon: <CheckIcon /> };
const OFF: StatusLook = { tone: 'idle', word: 'Off', icon: <PauseIcon /> };
const DISABLED: StatusLook = { tone: 'error', word: 'Disabled by Gantry', icon: <CrossIcon /> };

export const AlertStatusChip = ({ alert: { enabled, disabled_reason } }: { alert: Alert }) => (
  <LookChip {...(enabled ? ON : disabled_reason ? DISABLED : OFF)} />
);

const LOOKS: Record<Delivery['status'], StatusLook> = {
  pending: { tone: 'running', word: 'Pending', icon: <WaitIcon /> },
  delivered: { tone: 'success', word: 'Delivered', icon: <CheckIcon /> },
  dead: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
};

export const DeliveryStatusChip = ({ status }: { status: Delivery['status'] }) => <LookChip {...LOOKS[status]} />;
