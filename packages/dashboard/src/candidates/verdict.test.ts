import type { CandidateSummary } from '../shell/api';
import { buildVerdict } from './verdict';

const NONE: CandidateSummary = {
  same: 0,
  different: 0,
  fixed: 0,
  still_failing: 0,
  broken: 0,
  inconclusive: 0,
  total: 0,
};

const summary = (counts: Partial<CandidateSummary>): CandidateSummary => ({
  ...NONE,
  ...counts,
  total: counts.total ?? Object.values(counts).reduce((sum, count) => sum + count, 0),
});

test.each<[Partial<CandidateSummary>, boolean, string, string]>([
  [{}, false, 'idle', 'Not rehearsed because there are no comparable recorded runs'],
  [{ same: 2, total: 6 }, true, 'running', 'Rehearsed 2 of 6 runs so far'],
  [{ same: 5 }, false, 'success', 'Doesn’t change any of the 5 runs'],
  [{ same: 1 }, false, 'success', 'Doesn’t change the recorded run'],
  [{ fixed: 1, same: 5 }, true, 'success', 'Fixes the failed run and doesn’t change any of the 5 other runs'],
  [{ fixed: 1, same: 1 }, true, 'success', 'Fixes the failed run and doesn’t change the other run'],
  [{ fixed: 1 }, true, 'success', 'Fixes the failed run'],
  [
    { fixed: 1, same: 4, different: 1 },
    true,
    'timeout',
    'Fixes the failed run and changes the result of 1 of 5 other runs',
  ],
  [
    { still_failing: 1, same: 5 },
    true,
    'error',
    'Doesn’t fix the failed run and doesn’t change any of the 5 other runs',
  ],
  [
    { inconclusive: 1, same: 5 },
    true,
    'error',
    'Has an inconclusive result for the failed run and doesn’t change any of the 5 other runs',
  ],
  [{ broken: 2, same: 3 }, false, 'error', 'Breaks 2 of 5 runs'],
  [{ fixed: 2, still_failing: 1 }, false, 'timeout', 'Fixes 2 failed runs and leaves 1 run failing'],
  [{ inconclusive: 3 }, false, 'timeout', 'Has inconclusive results for 3 runs'],
])('%j, of a repair: %s', (counts, isRepair, tone, words) => {
  expect(buildVerdict(summary(counts), isRepair)).toEqual({ tone, words });
});
