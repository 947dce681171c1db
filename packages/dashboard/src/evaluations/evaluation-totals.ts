import type { Evaluation } from '../shell/api';

export const countFinished = ({ passed, failed, error }: Evaluation['totals']): number => passed + failed + error;

/** Formats totals: `3 of 4 passed, 1 failed`. */
export function formatTotals(totals: Evaluation['totals']): string {
  const { passed, failed, error, total } = totals;
  const others = [...(failed > 0 ? [`${failed} failed`] : []), ...(error > 0 ? [`${error} not evaluated`] : [])];
  return [`${passed} of ${total} passed`, ...others].join(', ');
}
