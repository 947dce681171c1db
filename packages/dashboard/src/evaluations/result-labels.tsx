import type { ReactNode } from 'react';
import type { Evaluation, EvaluationResult } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon, WarningIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

interface Look {
  tone: Tone;
  word: string;
  icon: ReactNode;
}

/** Chips for the result of one example: colour, icon and label. */
export const RESULT_LOOKS: Record<EvaluationResult['status'], Look> = {
  passed: { tone: 'success', word: 'Passed', icon: <CheckIcon /> },
  failed: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
  error: { tone: 'timeout', word: 'Not evaluated', icon: <WarningIcon /> },
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  pending: { tone: 'idle', word: 'Pending', icon: <WaitIcon /> },
  stopped: { tone: 'idle', word: 'Stopped', icon: <StopIcon /> },
};

export function ResultChip({ status }: { status: EvaluationResult['status'] }) {
  const { tone, word, icon } = RESULT_LOOKS[status];
  return (
    <StatusChip tone={tone} icon={icon}>
      {word}
    </StatusChip>
  );
}

export const countFinished = ({ passed, failed, error }: Evaluation['totals']): number => passed + failed + error;

/** Formats totals: `3 of 4 passed, 1 failed`. */
export function formatTotals(totals: Evaluation['totals']): string {
  const { passed, failed, error, total } = totals;
  const others = [...(failed > 0 ? [`${failed} failed`] : []), ...(error > 0 ? [`${error} not evaluated`] : [])];
  return [`${passed} of ${total} passed`, ...others].join(', ');
}
