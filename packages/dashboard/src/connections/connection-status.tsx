import { CheckIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { LabeledStatusChip, type StatusDisplay } from '../ui/status-chip';
import type { Connection } from './connection-queries';

const STATUS_DISPLAYS: Record<Connection['status'], StatusDisplay> = {
  active: { tone: 'success', word: 'Active', icon: <CheckIcon /> },
  pending: { tone: 'timeout', word: 'Awaiting consent', icon: <WaitIcon /> },
  expired: { tone: 'error', word: 'Consent expired', icon: <CrossIcon /> },
  error: { tone: 'error', word: 'Failing', icon: <CrossIcon /> },
};

export const ConnectionStatusChip = ({ status }: { status: Connection['status'] }) => (
  <LabeledStatusChip {...STATUS_DISPLAYS[status]} />
);
