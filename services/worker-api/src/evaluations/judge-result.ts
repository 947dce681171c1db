/** Judges an example whose run has ended. */
import { AppError } from '@gantry/errors';
import { transaction } from '@gantry/postgres';
import { listUnrecordedCalls, type Run } from '@gantry/run-engine';
import { storeOrSettle } from '../models/call-model';
import type { CheckedOutput, CheckTask } from './check-output';
import type { EvaluationDeps } from './evaluation-deps';
import { type JudgedVerdict, JudgeError, requestVerdict } from './judge';
import type { OutputChecks } from './output-checks';
import { type ClaimedResult, endResult, type Outcome, storeVerdicts } from './result-repository';
import { describeEnding, type EndedRun, type Verdict } from './verdict';

const TRIES_MAX = 3;
/** It did not come to do what the example is about. */
const NOT_RUN = new Set<string | undefined>([
  ...['executor_lost', 'sandbox', 'dependency_install', 'missing_secret', 'missing_connection', 'budget_exceeded'],
  ...['invalid_inputs', 'model_unavailable'],
]);

/** @throws AbortError when stopped; what the database throws: its lease expires */
export async function judgeResult(deps: JudgeDeps, result: ClaimedResult, signal: AbortSignal): Promise<void> {
  const found = await findRun(deps, result);
  const outcome = 'error' in found ? toErrorOutcome(found) : await toOutcome(deps, result, found, signal);
  if (outcome) await transaction(deps.pool, (tx) => endResult(tx, result, outcome));
}

type JudgeDeps = EvaluationDeps & { checks: OutputChecks };

const toErrorOutcome = ({ error, run }: { error: string; run?: Run }): Outcome => ({
  status: 'error',
  verdicts: [],
  output: null,
  error,
  durationMs: run ? computeDuration(run) : null,
  usd: run?.costUsd ?? 0,
});

async function findRun(
  { engine }: EvaluationDeps,
  result: ClaimedResult,
): Promise<{ run: Run } | { error: string; run?: Run }> {
  const { workspaceId, runId, tries, isLost } = result;
  if (isLost) return { error: 'it could not be judged: the service ended while it was; evaluate the version again' };
  if (tries > TRIES_MAX) return { error: `it could not be judged: that was tried ${TRIES_MAX} times` };
  let run: Run;
  try {
    run = await engine.get(workspaceId, runId ?? '');
  } catch (err) {
    if (err instanceof AppError && err.kind === 'not_found') return { error: 'its run is not there any more' };
    throw err;
  }
  const { status, error } = run;
  if (status === 'cancelled' || status === 'rejected') return { error: `its run was ${status}`, run };
  if (status !== 'completed' && NOT_RUN.has(error?.code))
    return { error: `its run ${describeEnding(toEndedRun(run))}`, run };
  return { run };
}

/** Null where the lease is another's meanwhile, or the evaluation has ended. */
async function toOutcome(
  deps: JudgeDeps,
  result: ClaimedResult,
  { run }: { run: Run },
  signal: AbortSignal,
): Promise<Outcome | null> {
  const [first] = await listUnrecordedCalls(deps.pool, run);
  const hasFailed = run.status !== 'completed';
  // With the record it might have ended otherwise.
  if (first && hasFailed) return toErrorOutcome({ error: first.message, run });
  const of = toEndedRun(run);
  const checked = await runChecks(deps, result, run);
  signal.throwIfAborted();
  if ('problem' in checked) return toErrorOutcome({ error: checked.problem, run });
  const found = await collectVerdicts(deps, result, checked, signal);
  if (!found) return null;
  const { verdicts } = found;
  const hasPassed = verdicts.every(({ passed }) => passed);
  const problem = found.problem ?? (hasPassed ? null : first?.message) ?? null;
  return {
    verdicts,
    durationMs: of.durationMs,
    usd: run.costUsd,
    status: problem === null ? (hasPassed ? 'passed' : 'failed') : 'error',
    error: problem ?? (hasFailed ? describeEnding(of) : null),
    output: checked.output,
  };
}

/** @throws where it was not tried */
async function runChecks(
  { engine, checks, log }: JudgeDeps,
  { checks: own, maxDurationSeconds, maxCostUsd, evaluationId }: ClaimedResult,
  run: Run,
): Promise<CheckedOutput | { problem: string }> {
  const example = { checks: own, maxDurationSeconds, maxCostUsd };
  const outcome = await checks.run({ example, run: toEndedRun(run), output: await engine.loadStoredOutput(run) });
  if ('result' in outcome) return outcome.result;
  const { reason, problem } = outcome;
  if (reason === 'busy') throw new Error(`checks not carried out: ${problem}`);
  log.warn({ evaluationId, runId: run.id, problem }, 'the checks of an example were given up');
  return { problem: 'its checks take more time or memory than they may; check smaller parts of the output, by paths' };
}

/** @returns what the checks found, up to a judge that has failed; null where the lease is another's meanwhile */
async function collectVerdicts(
  deps: EvaluationDeps,
  result: ClaimedResult,
  checked: CheckedOutput,
  signal: AbortSignal,
): Promise<{ verdicts: Verdict[]; problem: string | null } | null> {
  const verdicts: Verdict[] = [];
  for (const [at, found] of checked.found.entries()) {
    const known = result.verdicts[at];
    if (known) verdicts.push(known);
    else if (!('judge' in found)) verdicts.push(found);
    else {
      const judged = await requestVerdict(deps, result, found, signal).catch(toJudgeFailure);
      if (!(await storeOutcome(deps, result, verdicts, judged))) return null;
      if (judged instanceof JudgeError) return { verdicts, problem: `the judge has failed: ${judged.message}` };
    }
  }
  return { verdicts, problem: null };
}

function toJudgeFailure(err: unknown): JudgeError {
  if (err instanceof JudgeError) return err;
  throw err;
}

/** Verdict and price together, behind the verdicts before it. */
function storeOutcome(
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

function toEndedRun(run: Run): CheckTask['run'] {
  const { status, error, costUsd } = run;
  return { status: status as EndedRun['status'], error, costUsd, durationMs: computeDuration(run) };
}

const computeDuration = ({ startedAt, finishedAt }: Run): number | null =>
  startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime());
