import type { Approval } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';

const LOOKS: Record<Approval['status'], StatusLook> = {
  pending: { tone: 'timeout', word: 'Awaiting decision', icon: <WaitIcon /> },
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  rejected: { tone: 'error', word: 'Rejected', icon: <CrossIcon /> },
  expired: { tone: 'idle', word: 'Expired', icon: <ClockIcon /> },
};

export const ApprovalStatusChip = ({ status }: { status: Approval['status'] }) => <LookChip {...LOOKS[status]} />;
