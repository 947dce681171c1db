import { CheckIcon, CrossIcon, PauseIcon, WaitIcon } from '../ui/icons';
import { LabeledStatusChip, type StatusDisplay } from '../ui/status-chip';
import type { Alert, Delivery } from './alert-labels';

const ON: StatusDisplay = { tone: 'success', word: 'On', icon: <CheckIcon /> };
const OFF: StatusDisplay = { tone: 'idle', word: 'Off', icon: <PauseIcon /> };
const DISABLED: StatusDisplay = { tone: 'error', word: 'Turned off by Gantry', icon: <CrossIcon /> };

export const AlertStatusChip = ({ alert: { enabled, disabled_reason } }: { alert: Alert }) => (
  <LabeledStatusChip {...(enabled ? ON : disabled_reason ? DISABLED : OFF)} />
);

const DELIVERY_STATUS_DISPLAYS: Record<Delivery['status'], StatusDisplay> = {
  pending: { tone: 'running', word: 'Pending', icon: <WaitIcon /> },
  delivered: { tone: 'success', word: 'Delivered', icon: <CheckIcon /> },
  dead: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
};

export const DeliveryStatusChip = ({ status }: { status: Delivery['status'] }) => (
  <LabeledStatusChip {...DELIVERY_STATUS_DISPLAYS[status]} />
);
