/** Judges an example whose run has ended. */
import type { RunErrorCode } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import { findRun } from '@gantry/run-engine';
import { storeOrSettle } from '../models/call-model';
import { describeFailure, type OutcomeCheckResult, type Verdict } from '../rehearsals/check-outcome';
import { loadRunOutcome } from '../rehearsals/load-run-outcome';
import { EXTERNAL_ERROR_CODES, type StoredRunOutcome } from '../rehearsals/run-outcome';
import type { EvaluationDeps } from './evaluation-deps';
import { type JudgedVerdict, JudgeError, requestVerdict } from './judge';
import { type ClaimedResult, endResult, type ResultOutcome, storeVerdicts } from './result-repository';

const ATTEMPTS_MAX = 3;
/** It did not come to do what the example is about. */
const NOT_RUN: ReadonlySet<RunErrorCode | undefined> = new Set<RunErrorCode | undefined>([
  ...EXTERNAL_ERROR_CODES,
  ...(['dependency_install', 'invalid_inputs'] as const),
]);

/** @throws AbortError when stopped; what the database throws: its lease expires */
export async function judgeResult(deps: EvaluationDeps, result: ClaimedResult, signal: AbortSignal): Promise<void> {
  const outcome = await computeOutcome(deps, result, signal);
  if (outcome) await transaction(deps.pool, (tx) => endResult(tx, result, outcome));
}

const toErrorOutcome = (error: string, run?: StoredRunOutcome): ResultOutcome => ({
  status: 'error',
  verdicts: [],
  output: null,
  error,
  durationMs: run?.durationMs ?? null,
  usd: run?.costUsd ?? 0,
});

/** Null where the lease is another's meanwhile, or the evaluation has ended. */
async function computeOutcome(
  deps: EvaluationDeps,
  result: ClaimedResult,
  signal: AbortSignal,
): Promise<ResultOutcome | null> {
  const { workspaceId, runId, tries, isLost, checks, maxDurationSeconds, maxCostUsd } = result;
  if (isLost)
    return toErrorOutcome('the result could not be judged because the service stopped; evaluate the version again');
  if (tries > ATTEMPTS_MAX) return toErrorOutcome(`the result could not be judged after ${ATTEMPTS_MAX} attempts`);
  const run = await findRun(deps.pool, workspaceId, runId ?? '');
  if (!run) return toErrorOutcome('the run no longer exists');
  const outcome = await loadRunOutcome(deps, run);
  const { status, error, unrecorded, durationMs, costUsd } = outcome;
  if (status === 'cancelled' || status === 'rejected') return toErrorOutcome(`the run was ${status}`, outcome);
  const failure = status === 'completed' ? null : describeFailure(outcome);
  if (failure !== null && NOT_RUN.has(error?.code)) return toErrorOutcome(`the run ${failure}`, outcome);
  // With the record it might have ended otherwise.
  if (failure !== null && unrecorded !== null) return toErrorOutcome(unrecorded, outcome);
  const checked = await deps.outcomeJudge.check(
    { outcome, checks, maxDurationSeconds, maxCostUsd },
    { evaluationId: result.evaluationId, runId: run.id },
  );
  signal.throwIfAborted();
  if (!checked) return toErrorOutcome(TOO_COSTLY, outcome);
  const found = await collectVerdicts(deps, result, checked, signal);
  if (!found) return null;
  const { verdicts } = found;
  const hasPassed = verdicts.every(({ passed }) => passed);
  const problem = found.problem ?? (hasPassed ? null : unrecorded);
  return {
    verdicts,
    durationMs,
    usd: costUsd,
    status: problem === null ? (hasPassed ? 'passed' : 'failed') : 'error',
    error: problem ?? failure,
    output: checked.output,
  };
}

const TOO_COSTLY = 'the checks exceed the time or memory limit; use paths to check smaller parts of the output';

/** @returns what the checks found, up to a judge that has failed; null where the lease is another's meanwhile */
async function collectVerdicts(
  deps: EvaluationDeps,
  result: ClaimedResult,
  checked: OutcomeCheckResult,
  signal: AbortSignal,
): Promise<{ verdicts: Verdict[]; problem: string | null } | null> {
  const verdicts: Verdict[] = [];
  for (const [at, found] of checked.found.entries()) {
    const known = result.verdicts[at];
    if (known) verdicts.push(known);
    else if (!('judge' in found)) verdicts.push(found);
    else {
      const judged = await requestVerdict(deps, result, found, signal).catch(rethrowUnlessJudgeError);
      if (!(await storeJudgedVerdict(deps, result, verdicts, judged))) return null;
      if (judged instanceof JudgeError) return { verdicts, problem: `the judge failed: ${judged.message}` };
    }
  }
  return { verdicts, problem: null };
}

function rethrowUnlessJudgeError(err: unknown): JudgeError {
  if (err instanceof JudgeError) return err;
  throw err;
}

/** Verdict and price together, behind the verdicts before it. */
function storeJudgedVerdict(
  { pool }: EvaluationDeps,
  result: ClaimedResult,
  verdicts: Verdict[],
  judged: JudgedVerdict | JudgeError,
): Promise<boolean> {
  const { usd } = judged;
  if (judged instanceof JudgeError) return storeVerdicts(pool, result, { verdicts, usd });
  verdicts.push(judged.verdict);
  return storeOrSettle(pool, judged, () =>
    transaction(pool, async (tx) => {
      await judged.settle(tx);
      return storeVerdicts(tx, result, { verdicts, usd });
    }),
  );
}
