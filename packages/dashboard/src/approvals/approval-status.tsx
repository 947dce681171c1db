import type { Approval } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { LabeledStatusChip, type StatusDisplay } from '../ui/status-chip';

const STATUS_DISPLAYS: Record<Approval['status'], StatusDisplay> = {
  pending: { tone: 'timeout', word: 'Awaiting decision', icon: <WaitIcon /> },
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  rejected: { tone: 'error', word: 'Rejected', icon: <CrossIcon /> },
  expired: { tone: 'idle', word: 'Expired', icon: <ClockIcon /> },
};

export const ApprovalStatusChip = ({ status }: { status: Approval['status'] }) => (
  <LabeledStatusChip {...STATUS_DISPLAYS[status]} />
);
