/** What came of an example whose run has ended. */
import { AppError } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { outputOf } from '../runs/run-output';
import { jsonOf } from './compare';
import { askJudge, JudgeFailed } from './judge';
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
  const output = outputOf(run, await deps.engine.output(run));
  const of = ended(run, output);
  const json = output && jsonOf(output);
  const outcome = {
    output: json && json.length <= OUTPUT_CHARS_MAX ? json : null,
    ...{ durationMs: of.durationMs, usd: run.costUsd, error: run.status === 'completed' ? null : endingOf(of) },
  };
  const verdicts: Verdict[] = [];
  for (const [at, found] of verdictsOf(result, of).entries()) {
    const known = result.verdicts[at];
    if (known) verdicts.push(known);
    else if (!('judge' in found)) verdicts.push(found);
    else {
      try {
        const { verdict, usd, settle } = await askJudge(deps, result, found, signal);
        verdicts.push(verdict);
        const isKept = await transaction(deps.pool, async (tx) => {
          await settle(tx);
          return keepVerdicts(tx, result, { verdicts, usd });
        });
        if (!isKept) return null;
      } catch (err) {
        if (!(err instanceof JudgeFailed)) throw err;
        if (!(await keepVerdicts(deps.pool, result, { verdicts, usd: err.usd }))) return null;
        return { ...outcome, verdicts, status: 'error', error: `the judge has failed: ${err.message}` };
      }
    }
  }
  return { ...outcome, verdicts, status: verdicts.every(({ passed }) => passed) ? 'passed' : 'failed' };
}

function ended(run: Run, output: EndedRun['output']): EndedRun {
  const { status, error, costUsd } = run;
  return { status: status as EndedRun['status'], error, output, costUsd, durationMs: durationOf(run) };
}

const durationOf = ({ startedAt, finishedAt }: Run): number | null =>
  startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime());
