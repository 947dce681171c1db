/**
 * The outcome of a case. A difference between a record and a rehearsal says nothing of the candidate as long as the
 * world may have changed in between, so wherever they differ the version that the candidate was made from is rehearsed
 * as well, today and on the same inputs. The candidate answers for what is different from that.
 */
import type { RunErrorCode } from '@gantry/events';
import type { TerminalStatus } from '@gantry/run-engine';
import { compareOutputs, type Difference, truncateText } from './compare-outputs';

export type Outcome = 'same' | 'different' | 'fixed' | 'still_failing' | 'broken' | 'inconclusive';

/** The end of a run. */
export interface Ending {
  status: TerminalStatus;
  error: string | null;
  errorCode: RunErrorCode | null;
  /** Class of the exception; null where none was raised. */
  errorType: string | null;
  /** The whole return value; undefined unless it completed. */
  output: unknown;
  /** Of a rehearsal: what it asked for that was not recorded; null: nothing. */
  unrecorded: string | null;
}

export interface Judgement {
  outcome: Outcome;
  reason: string | null;
  differences: Difference[];
}

/** Endings that say nothing of the code. */
const OUTSIDE: ReadonlySet<RunErrorCode | null> = new Set<RunErrorCode | null>([
  ...(['executor_lost', 'missing_secret', 'missing_connection', 'budget_exceeded', 'cancelled', 'sandbox'] as const),
  'model_unavailable',
]);

/**
 * @param base the version that the candidate was made from, rehearsed on the same inputs; null: not yet
 * @returns null where that rehearsal is needed first
 */
export function judgeCase(recorded: Ending, rehearsed: Ending, base: Ending | null): Judgement | null {
  const silence = findMissingRecord(rehearsed);
  // An answer that code has made up for one that it did not get may be equal by chance.
  if (silence !== null) return toJudgement('inconclusive', silence);
  const differences = isCompleted(recorded) && isCompleted(rehearsed) ? compareEndings(recorded, rehearsed) : [];
  if (isCompleted(recorded) && isCompleted(rehearsed) && differences.length === 0) return toJudgement('same');
  if (!isCompleted(recorded) && !isCompleted(rehearsed))
    return toJudgement('still_failing', changeOfFailure(recorded, rehearsed));
  if (!base) return null;
  const baseSilence = findMissingRecord(base);
  const outcome = !isCompleted(recorded) ? 'fixed' : isCompleted(rehearsed) ? 'different' : 'broken';
  if (baseSilence !== null) {
    return {
      ...toJudgement(outcome, `the version that it was made from could not be compared: ${baseSilence}`),
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
  if (!isCompleted(base)) return againstFailure(rehearsed, base, differences);
  if (!isCompleted(rehearsed)) return toJudgement('broken');
  const ofToday = compareEndings(base, rehearsed);
  if (ofToday.length === 0)
    return toJudgement(
      'same',
      'the version that it was made from answers the same today: what it reads has changed since the run',
    );
  if (compareEndings(recorded, base).length === 0) return { ...toJudgement('different'), differences };
  const reason =
    'what it reads has changed since the run; the differences are those from the version that it was made from, today';
  return { ...toJudgement('different', reason), differences: ofToday };
}

/** The version that ran before completed then, and fails today. */
function againstFailure(rehearsed: Ending, base: Ending, differences: Difference[]): Judgement {
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

const isCompleted = ({ status }: Ending): boolean => status === 'completed';

const compareEndings = (was: Ending, now: Ending): Difference[] => compareOutputs(was.output, now.output);

/** The reason why a rehearsal is no evidence; null: it is. */
function findMissingRecord(rehearsed: Ending): string | null {
  const { status, errorCode, unrecorded } = rehearsed;
  if (unrecorded !== null) return unrecorded;
  if (status === 'cancelled' || status === 'rejected') return `the rehearsal was ${status}`;
  return OUTSIDE.has(errorCode) && errorCode !== null
    ? `the rehearsal ended early: ${describeEnding(rehearsed)}`
    : null;
}

function changeOfFailure(recorded: Ending, rehearsed: Ending): string | null {
  const isAlike = recorded.errorCode === rehearsed.errorCode && recorded.errorType === rehearsed.errorType;
  return isAlike ? null : `it fails in another way than before: ${describeEnding(rehearsed)}`;
}

const SAID_CHARS_MAX = 300;

const describeEnding = ({ status, error, errorCode }: Ending): string =>
  truncateText(error ?? errorCode ?? status, SAID_CHARS_MAX);
