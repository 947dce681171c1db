import { CheckIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';
import type { Connection } from './connection-queries';

const LOOKS: Record<Connection['status'], StatusLook> = {
  active: { tone: 'success', word: 'Active', icon: <CheckIcon /> },
  pending: { tone: 'timeout', word: 'Awaiting consent', icon: <WaitIcon /> },
  expired: { tone: 'error', word: 'Consent expired', icon: <CrossIcon /> },
  error: { tone: 'error', word: 'Failing', icon: <CrossIcon /> },
};

export const ConnectionStatus = ({ status }: { status: Connection['status'] }) => <LookChip {...LOOKS[status]} />;
