/**
 * Judges the outcome of a case. A difference between a recorded run and a rehearsal proves nothing about the candidate
 * while external state may have changed in between, so wherever they differ the base version is rehearsed as well, now
 * and on the same inputs. Only differences from that rehearsal are attributed to the candidate.
 */
import type { RunErrorCode } from '@gantry/events';
import type { SurfaceSchemas } from '@gantry/openapi';
import { parseOutput } from '../runs/output-object';
import { toApiStatus } from '../workers/run-status';
import { compareOutputs, type Difference, formatJson, truncateText } from './compare-outputs';
import { ERROR_CHARS_MAX, EXTERNAL_ERROR_CODES, type RunOutcome, type StoredRunOutcome } from './run-outcome';

export const OUTCOMES = ['same', 'different', 'fixed', 'still_failing', 'broken', 'inconclusive'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Judgement {
  outcome: Outcome;
  reason: string | null;
  differences: Difference[];
}

/** The shortened form of an outcome that is stored and shown. */
export type ApiRunOutcome = SurfaceSchemas<'worker'>['RecordedEnd'];

export interface OutcomeComparisonInput {
  recorded: StoredRunOutcome;
  rehearsed: StoredRunOutcome;
  /** Null: the version that the candidate was made from was not rehearsed. */
  base: StoredRunOutcome | null;
}

export interface OutcomeComparison {
  /** Null: the version that the candidate was made from is to be rehearsed first. */
  judgement: Judgement | null;
  recorded: ApiRunOutcome;
  rehearsed: ApiRunOutcome;
}

/** Takes time that the outputs decide: services use the threads of `outcome-judge.ts`. */
export function compareRunOutcomes({ recorded, rehearsed, base }: OutcomeComparisonInput): OutcomeComparison {
  const [was, now] = [parseStoredOutcome(recorded), parseStoredOutcome(rehearsed)];
  return {
    judgement: judgeCase(was, now, base && parseStoredOutcome(base)),
    recorded: toApiOutcome(was),
    rehearsed: toApiOutcome(now),
  };
}

const parseStoredOutcome = ({ output, ...outcome }: StoredRunOutcome): RunOutcome => ({
  ...outcome,
  output: output && parseOutput(output),
});

const OUTPUT_CHARS_MAX = 4_000;

export const toApiOutcome = ({ status, error, output }: RunOutcome): ApiRunOutcome => ({
  status: toApiStatus(status),
  error: error ? truncateText(error.message, ERROR_CHARS_MAX) : null,
  error_code: error?.code ?? null,
  output: output === undefined ? null : formatJson(output, OUTPUT_CHARS_MAX),
});

/** Codes of errors that are no evidence about the code. */
const NO_EVIDENCE_CODES: ReadonlySet<RunErrorCode | undefined> = new Set([...EXTERNAL_ERROR_CODES, 'cancelled']);

/**
 * @param base the version that the candidate was made from, rehearsed on the same inputs; null: not yet
 * @returns null where that rehearsal is needed first
 */
export function judgeCase(recorded: RunOutcome, rehearsed: RunOutcome, base: RunOutcome | null): Judgement | null {
  const noEvidenceReason = findNoEvidenceReason(rehearsed);
  // A fallback that the code substituted for a missing response may be equal by chance.
  if (noEvidenceReason !== null) return toJudgement('inconclusive', noEvidenceReason);
  const differences = isCompleted(recorded) && isCompleted(rehearsed) ? findDifferences(recorded, rehearsed) : [];
  if (isCompleted(recorded) && isCompleted(rehearsed) && differences.length === 0) return toJudgement('same');
  if (!isCompleted(recorded) && !isCompleted(rehearsed))
    return toJudgement('still_failing', describeFailureChange(recorded, rehearsed));
  if (!base) return null;
  const baseNoEvidenceReason = findNoEvidenceReason(base);
  const outcome = !isCompleted(recorded) ? 'fixed' : isCompleted(rehearsed) ? 'different' : 'broken';
  if (baseNoEvidenceReason !== null) {
    return {
      ...toJudgement(outcome, `the base version could not be compared: ${baseNoEvidenceReason}`),
      differences,
    };
  }
  if (outcome === 'fixed') {
    if (!isCompleted(base)) return toJudgement('fixed');
    return toJudgement(
      'inconclusive',
      'the base version now completes too, so this does not prove that the change works',
    );
  }
  if (!isCompleted(base)) return judgeAgainstFailingBase(rehearsed, base, differences);
  if (!isCompleted(rehearsed)) return toJudgement('broken');
  const currentDifferences = findDifferences(base, rehearsed);
  if (currentDifferences.length === 0)
    return toJudgement(
      'same',
      'the base version now gives the same result: the data that the worker reads has changed since the run',
    );
  if (findDifferences(recorded, base).length === 0) return { ...toJudgement('different'), differences };
  const reason =
    'the data that the worker reads has changed since the run; the comparison is with a new run of the base version';
  return { ...toJudgement('different', reason), differences: currentDifferences };
}

/** Judges a case whose base version completed then, and fails today. */
function judgeAgainstFailingBase(rehearsed: RunOutcome, base: RunOutcome, differences: Difference[]): Judgement {
  const why = `the base version now fails (${describeOutcome(base)})`;
  if (isCompleted(rehearsed)) return { ...toJudgement('different', `${why}, but this version completes`), differences };
  return toJudgement(
    'inconclusive',
    `${why}, ${hasSameError(base, rehearsed) ? 'and so does this version' : 'and this version fails differently'}`,
  );
}

const toJudgement = (outcome: Outcome, reason: string | null = null): Judgement => ({
  outcome,
  reason,
  differences: [],
});

const isCompleted = ({ status }: RunOutcome): boolean => status === 'completed';

const findDifferences = (was: RunOutcome, now: RunOutcome): Difference[] => compareOutputs(was.output, now.output);

/** Returns the reason why a rehearsal is no evidence; null: it is. */
function findNoEvidenceReason(rehearsed: RunOutcome): string | null {
  const { status, error, unrecorded } = rehearsed;
  if (unrecorded !== null) return unrecorded;
  if (status === 'cancelled' || status === 'rejected') return `the rehearsal was ${status}`;
  return NO_EVIDENCE_CODES.has(error?.code) ? `the rehearsal ended early: ${describeOutcome(rehearsed)}` : null;
}

const hasSameError = ({ error: one }: RunOutcome, { error: other }: RunOutcome): boolean =>
  one?.code === other?.code && one?.type === other?.type;

const describeFailureChange = (recorded: RunOutcome, rehearsed: RunOutcome): string | null =>
  hasSameError(recorded, rehearsed) ? null : `it fails differently than before: ${describeOutcome(rehearsed)}`;

const DESCRIPTION_CHARS_MAX = 300;

const describeOutcome = ({ status, error }: RunOutcome): string =>
  truncateText(error?.message ?? status, DESCRIPTION_CHARS_MAX);
