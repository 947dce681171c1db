/** Judges an example whose run has ended. */
import { AppError } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { listUnrecorded, type Run } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { outputOf } from '../runs/run-output';
import { jsonOf } from './compare';
import { askJudge, type Judged, JudgeFailed } from './judge';
import { type ClaimedResult, endResult, keepVerdicts, type Outcome } from './result-repository';
import { type EndedRun, endingOf, type Verdict, verdictsOf } from './verdict';

const TRIES_MAX = 3;
/** A larger output is to be read from the run. */
const OUTPUT_CHARS_MAX = 8 * 1024;
/** It did not come to do what the example is about. */
const NOT_RUN = new Set<string | undefined>([
  ...['executor_lost', 'sandbox', 'dependency_install', 'missing_secret', 'missing_connection', 'budget_exceeded'],
  'invalid_inputs',
]);

/** @throws AbortError when stopped; what the database throws: its lease expires */
export async function judgeResult(deps: Deps, result: ClaimedResult, signal: AbortSignal): Promise<void> {
  const found = await findRun(deps, result);
  const outcome = 'error' in found ? unjudged(found) : await outcomeOf(deps, result, found, signal);
  if (outcome) await transaction(deps.pool, (tx) => endResult(tx, result, outcome));
}

const unjudged = ({ error, run }: { error: string; run?: Run }): Outcome => ({
  ...{ status: 'error', verdicts: [], output: null, error },
  ...{ durationMs: run ? durationOf(run) : null, usd: run?.costUsd ?? 0 },
});

async function findRun({ engine }: Deps, result: ClaimedResult): Promise<{ run: Run } | { error: string; run?: Run }> {
  const { workspaceId, runId, tries } = result;
  if (tries > TRIES_MAX) return { error: 'it could not be judged: the service ended each time while it was' };
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
    return { error: `its run ${endingOf(ended(run, null))}`, run };
  return { run };
}

/** Null where the lease is another's meanwhile, or the evaluation has ended. */
async function outcomeOf(
  deps: Deps,
  result: ClaimedResult,
  { run }: { run: Run },
  signal: AbortSignal,
): Promise<Outcome | null> {
  const [first] = await listUnrecorded(deps.pool, run);
  const hasFailed = run.status !== 'completed';
  // With the record it might have ended otherwise.
  if (first && hasFailed) return unjudged({ error: first.message, run });
  const output = outputOf(run, await deps.engine.output(run));
  const of = ended(run, output);
  const found = await findAll(deps, result, of, signal);
  if (!found) return null;
  const { verdicts } = found;
  const hasPassed = verdicts.every(({ passed }) => passed);
  const problem = found.problem ?? (hasPassed ? null : first?.message) ?? null;
  const json = output && jsonOf(output);
  return {
    ...{ verdicts, durationMs: of.durationMs, usd: run.costUsd },
    status: problem === null ? (hasPassed ? 'passed' : 'failed') : 'error',
    error: problem ?? (hasFailed ? endingOf(of) : null),
    output: json && json.length <= OUTPUT_CHARS_MAX ? json : null,
  };
}

/** @returns what the checks found, up to a judge that has failed; null where the lease is another's meanwhile */
async function findAll(
  deps: Deps,
  result: ClaimedResult,
  run: EndedRun,
  signal: AbortSignal,
): Promise<{ verdicts: Verdict[]; problem: string | null } | null> {
  const verdicts: Verdict[] = [];
  for (const [at, found] of verdictsOf(result, run).entries()) {
    const known = result.verdicts[at];
    if (known) verdicts.push(known);
    else if (!('judge' in found)) verdicts.push(found);
    else {
      const judged = await askJudge(deps, result, found, signal).catch(failedOr);
      if (!(await keep(deps, result, verdicts, judged))) return null;
      if (judged instanceof JudgeFailed) return { verdicts, problem: `the judge has failed: ${judged.message}` };
    }
  }
  return { verdicts, problem: null };
}

function failedOr(err: unknown): JudgeFailed {
  if (err instanceof JudgeFailed) return err;
  throw err;
}

/** Verdict and price together, behind the verdicts before it. */
function keep(
  { pool }: Deps,
  result: ClaimedResult,
  verdicts: Verdict[],
  judged: Judged | JudgeFailed,
): Promise<boolean> {
  const { usd } = judged;
  if (judged instanceof JudgeFailed) return keepVerdicts(pool, result, { verdicts, usd });
  verdicts.push(judged.verdict);
  return transaction(pool, async (tx) => {
    await judged.settle(tx);
    return keepVerdicts(tx, result, { verdicts, usd });
  });
}

function ended(run: Run, output: EndedRun['output']): EndedRun {
  const { status, error, costUsd } = run;
  return { status: status as EndedRun['status'], error, output, costUsd, durationMs: durationOf(run) };
}

const durationOf = ({ startedAt, finishedAt }: Run): number | null =>
  startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime());
