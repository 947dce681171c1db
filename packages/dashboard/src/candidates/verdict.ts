/** Summarizes rehearsals in one sentence. */
import { upperFirst } from '@mantine/hooks';
import type { CandidateSummary } from '../shell/api';
import type { Tone } from '../ui/status-chip';

export interface Verdict {
  tone: Tone;
  words: string;
}

const formatCount = (count: number, singular: string, plural: string): string =>
  count === 1 ? singular : `${count} ${plural}`;

/** @param isRepair whether one of the cases is the failed run that it should fix */
export function buildVerdict(summary: CandidateSummary, isRepair: boolean): Verdict {
  const { different, fixed, still_failing: failing, broken, inconclusive, total } = summary;
  const settled = countSettled(summary);
  if (total === 0) return { tone: 'idle', words: 'Not rehearsed because there are no comparable recorded runs' };
  if (settled < total)
    return { tone: 'running', words: `Rehearsed ${settled} of ${formatCount(total, '1 run', 'runs')} so far` };
  const isFixed = !isRepair || fixed > 0;
  const clauses = [...describeFailedRuns(summary, isRepair), ...describeCompletedRuns(summary, isRepair)];
  const unclear = inconclusive - (isRepair && fixed + failing === 0 ? 1 : 0);
  if (unclear > 0) clauses.push(`has inconclusive results for ${formatCount(unclear, '1 run', 'runs')}`);
  const tone = broken > 0 || !isFixed ? 'error' : different + failing + inconclusive > 0 ? 'timeout' : 'success';
  return { tone, words: joinClauses(clauses) };
}

export const countSettled = (summary: CandidateSummary): number =>
  summary.same + summary.different + summary.fixed + summary.still_failing + summary.broken + summary.inconclusive;

function describeFailedRuns({ fixed, still_failing: failing }: CandidateSummary, isRepair: boolean): string[] {
  if (!isRepair) {
    return [
      ...(fixed > 0 ? [`fixes ${formatCount(fixed, '1 failed run', 'failed runs')}`] : []),
      ...(failing > 0 ? [`leaves ${formatCount(failing, '1 run', 'runs')} failing`] : []),
    ];
  }
  if (fixed > 0) return ['fixes the failed run'];
  return [failing > 0 ? 'doesn’t fix the failed run' : 'has an inconclusive result for the failed run'];
}

function describeCompletedRuns({ same, different, broken }: CandidateSummary, isRepair: boolean): string[] {
  const completed = same + different + broken;
  if (completed === 0) return [];
  const others = isRepair
    ? formatCount(completed, '1 other run', 'other runs')
    : formatCount(completed, '1 run', 'runs');
  if (different + broken === 0) {
    return [
      completed === 1
        ? `doesn’t change ${isRepair ? 'the other run' : 'the recorded run'}`
        : `doesn’t change any of the ${others}`,
    ];
  }
  return [
    ...(broken > 0 ? [`breaks ${broken} of ${others}`] : []),
    ...(different > 0 ? [`changes the result of ${different} ${broken > 0 ? 'more' : `of ${others}`}`] : []),
  ];
}

function joinClauses(clauses: string[]): string {
  const last = clauses.at(-1) ?? 'has inconclusive results';
  return upperFirst(clauses.length > 1 ? `${clauses.slice(0, -1).join(', ')} and ${last}` : last);
}
