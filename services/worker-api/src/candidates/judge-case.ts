/**
 * Judges the outcome of a case. A difference between a recorded run and a rehearsal proves nothing about the candidate
 * while external state may have changed in between, so wherever they differ the base version is rehearsed as well, now
 * and on the same inputs. Only differences from that rehearsal are attributed to the candidate.
 */
import type { RunErrorCode } from '@gantry/events';
import type { TerminalStatus } from '@gantry/run-engine';
import { compareOutputs, type Difference, truncateText } from './compare-outputs';

export type Outcome = 'same' | 'different' | 'fixed' | 'still_failing' | 'broken' | 'inconclusive';

/** The end of a run. */
export interface RunEnding {
  status: TerminalStatus;
  error: string | null;
  errorCode: RunErrorCode | null;
  /** Class of the exception; null where none was raised. */
  errorType: string | null;
  /** The whole return value; undefined unless it completed. */
  output: unknown;
  /** The first request of a rehearsal that was not recorded; null: none. */
  unrecorded: string | null;
}

export interface Judgement {
  outcome: Outcome;
  reason: string | null;
  differences: Difference[];
}

/** Endings that are no evidence about the code. */
const EXTERNAL_ERROR_CODES: ReadonlySet<RunErrorCode | null> = new Set<RunErrorCode | null>([
  ...(['executor_lost', 'missing_secret', 'missing_connection', 'budget_exceeded', 'cancelled', 'sandbox'] as const),
  'model_unavailable',
]);

/**
 * @param base the version that the candidate was made from, rehearsed on the same inputs; null: not yet
 * @returns null where that rehearsal is needed first
 */
export function judgeCase(recorded: RunEnding, rehearsed: RunEnding, base: RunEnding | null): Judgement | null {
  const noEvidenceReason = findNoEvidenceReason(rehearsed);
  // A fallback that the code substituted for a missing response may be equal by chance.
  if (noEvidenceReason !== null) return toJudgement('inconclusive', noEvidenceReason);
  const differences = isCompleted(recorded) && isCompleted(rehearsed) ? compareEndings(recorded, rehearsed) : [];
  if (isCompleted(recorded) && isCompleted(rehearsed) && differences.length === 0) return toJudgement('same');
  if (!isCompleted(recorded) && !isCompleted(rehearsed))
    return toJudgement('still_failing', describeFailureChange(recorded, rehearsed));
  if (!base) return null;
  const baseNoEvidenceReason = findNoEvidenceReason(base);
  const outcome = !isCompleted(recorded) ? 'fixed' : isCompleted(rehearsed) ? 'different' : 'broken';
  if (baseNoEvidenceReason !== null) {
    return {
      ...toJudgement(outcome, `the version that it was made from could not be compared: ${baseNoEvidenceReason}`),
      differences,
    };
  }
  if (outcome === 'fixed') {
    if (!isCompleted(base)) return toJudgement('fixed');
    return toJudgement(
      'inconclusive',
      'the version that it was made from completes as well today, so this is no proof of the change',
    );
  }
  if (!isCompleted(base)) return judgeAgainstFailingBase(rehearsed, base, differences);
  if (!isCompleted(rehearsed)) return toJudgement('broken');
  const currentDifferences = compareEndings(base, rehearsed);
  if (currentDifferences.length === 0)
    return toJudgement(
      'same',
      'the version that it was made from answers the same today: what it reads has changed since the run',
    );
  if (compareEndings(recorded, base).length === 0) return { ...toJudgement('different'), differences };
  const reason =
    'what it reads has changed since the run; the differences are those from the version that it was made from, today';
  return { ...toJudgement('different', reason), differences: currentDifferences };
}

/** Judges a case whose base version completed then, and fails today. */
function judgeAgainstFailingBase(rehearsed: RunEnding, base: RunEnding, differences: Difference[]): Judgement {
  const why = `the version that it was made from fails today (${describeEnding(base)})`;
  if (isCompleted(rehearsed)) return { ...toJudgement('different', `${why}, and this one completes`), differences };
  const isAlike = base.errorCode === rehearsed.errorCode && base.errorType === rehearsed.errorType;
  return toJudgement('inconclusive', `${why}, ${isAlike ? 'as this one does' : 'and this one fails in another way'}`);
}

const toJudgement = (outcome: Outcome, reason: string | null = null): Judgement => ({
  outcome,
  reason,
  differences: [],
});

const isCompleted = ({ status }: RunEnding): boolean => status === 'completed';

const compareEndings = (was: RunEnding, now: RunEnding): Difference[] => compareOutputs(was.output, now.output);

/** Returns the reason why a rehearsal is no evidence; null: it is. */
function findNoEvidenceReason(rehearsed: RunEnding): string | null {
  const { status, errorCode, unrecorded } = rehearsed;
  if (unrecorded !== null) return unrecorded;
  if (status === 'cancelled' || status === 'rejected') return `the rehearsal was ${status}`;
  return EXTERNAL_ERROR_CODES.has(errorCode) && errorCode !== null
    ? `the rehearsal ended early: ${describeEnding(rehearsed)}`
    : null;
}

function describeFailureChange(recorded: RunEnding, rehearsed: RunEnding): string | null {
  const isAlike = recorded.errorCode === rehearsed.errorCode && recorded.errorType === rehearsed.errorType;
  return isAlike ? null : `it fails in another way than before: ${describeEnding(rehearsed)}`;
}

const ERROR_CHARS_MAX = 300;

const describeEnding = ({ status, error, errorCode }: RunEnding): string =>
  truncateText(error ?? errorCode ?? status, ERROR_CHARS_MAX);
