import type { Approval } from '../shell/api';
import { CheckIcon, ClockIcon, CrossIcon, WaitIcon } from '../ui/icons';
import { createStatusChip, type StatusDisplay } from '../ui/status-chip';

export const APPROVAL_STATUS_DISPLAYS: Record<Approval['status'], StatusDisplay> = {
  pending: { tone: 'timeout', word: 'Awaiting decision', icon: <WaitIcon /> },
  approved: { tone: 'success', word: 'Approved', icon: <CheckIcon /> },
  rejected: { tone: 'error', word: 'Rejected', icon: <CrossIcon /> },
  expired: { tone: 'idle', word: 'Expired', icon: <ClockIcon /> },
};

export const ApprovalStatusChip = createStatusChip(APPROVAL_STATUS_DISPLAYS);
