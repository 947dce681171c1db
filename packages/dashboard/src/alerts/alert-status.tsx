import { CheckIcon, CrossIcon, PauseIcon, WaitIcon } from '../ui/icons';
import { createStatusChip, StatusChip, type StatusDisplay } from '../ui/status-chip';
import type { Alert, Delivery } from './alert-labels';

const ON: StatusDisplay = { tone: 'success', word: 'On', icon: <CheckIcon /> };
const OFF: StatusDisplay = { tone: 'idle', word: 'Off', icon: <PauseIcon /> };
const DISABLED: StatusDisplay = { tone: 'error', word: 'Turned off by Gantry', icon: <CrossIcon /> };

export const AlertStatusChip = ({ alert: { enabled, disabled_reason } }: { alert: Alert }) => (
  <StatusChip {...(enabled ? ON : disabled_reason ? DISABLED : OFF)} />
);

export const DeliveryStatusChip = createStatusChip<Delivery['status']>({
  pending: { tone: 'running', word: 'Pending', icon: <WaitIcon /> },
  delivered: { tone: 'success', word: 'Delivered', icon: <CheckIcon /> },
  dead: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
});
