import type { Evaluation, EvaluationResult } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon, WarningIcon } from '../ui/icons';
import { LookChip, type StatusLook } from '../ui/status-chip';

/** Chips for the result of one example: colour, icon and label. */
export const RESULT_LOOKS: Record<EvaluationResult['status'], StatusLook> = {
  passed: { tone: 'success', word: 'Passed', icon: <CheckIcon /> },
  failed: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
  error: { tone: 'timeout', word: 'Not evaluated', icon: <WarningIcon /> },
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  pending: { tone: 'idle', word: 'Pending', icon: <WaitIcon /> },
  stopped: { tone: 'idle', word: 'Stopped', icon: <StopIcon /> },
};

export const ResultChip = ({ status }: { status: EvaluationResult['status'] }) => (
  <LookChip {...RESULT_LOOKS[status]} />
);

export const countFinished = ({ passed, failed, error }: Evaluation['totals']): number => passed + failed + error;

/** Formats totals: `3 of 4 passed, 1 failed`. */
export function formatTotals(totals: Evaluation['totals']): string {
  const { passed, failed, error, total } = totals;
  const others = [...(failed > 0 ? [`${failed} failed`] : []), ...(error > 0 ? [`${error} not evaluated`] : [])];
  return [`${passed} of ${total} passed`, ...others].join(', ');
}
