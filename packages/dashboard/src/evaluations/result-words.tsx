import type { ReactNode } from 'react';
import type { Evaluation, EvaluationResult } from '../shell/api';
import { CheckIcon, CrossIcon, StopIcon, WaitIcon, WarningIcon } from '../ui/icons';
import { StatusChip, type Tone } from '../ui/status-chip';

interface Look {
  tone: Tone;
  word: string;
  icon: ReactNode;
}

/** Of one example: colour, sign and word say the same. */
export const RESULT_LOOKS: Record<EvaluationResult['status'], Look> = {
  passed: { tone: 'success', word: 'Passed', icon: <CheckIcon /> },
  failed: { tone: 'error', word: 'Failed', icon: <CrossIcon /> },
  error: { tone: 'timeout', word: 'Not judged', icon: <WarningIcon /> },
  running: { tone: 'running', word: 'Running', icon: <WaitIcon /> },
  pending: { tone: 'idle', word: 'Waits', icon: <WaitIcon /> },
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

export const endedIn = ({ passed, failed, error }: Evaluation['totals']): number => passed + failed + error;

/** `3 of 4 passed`, with whatever else there is. */
export function totalsInWords(totals: Evaluation['totals']): string {
  const { passed, failed, error, total } = totals;
  const others = [...(failed > 0 ? [`${failed} failed`] : []), ...(error > 0 ? [`${error} not judged`] : [])];
  return [`${passed} of ${total} passed`, ...others].join(', ');
}
