import { CheckIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { createStatusChip } from '../ui/status-chip';
import type { Connection } from './connection-queries';

export const ConnectionStatusChip = createStatusChip<Connection['status']>({
  active: { tone: 'success', word: 'Active', icon: <CheckIcon /> },
  pending: { tone: 'timeout', word: 'Awaiting consent', icon: <WaitIcon /> },
  expired: { tone: 'error', word: 'Consent expired', icon: <CrossIcon /> },
  error: { tone: 'error', word: 'Failing', icon: <CrossIcon /> },
});
