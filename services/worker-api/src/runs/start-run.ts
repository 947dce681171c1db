/** Starts every run of a worker, for all callers: a request, a webhook, a schedule, an event, another run. */

import { createHash } from 'node:crypto';
import { AppError, conflict } from '@gantry/errors';
import type { JobConversation, Restriction } from '@gantry/events';
import { getRetryAfterSeconds, getTokenScope, intersectScopes } from '@gantry/limits';
import { type Sql, transaction } from '@gantry/postgres';
import type { NewRun, RetryPolicy, Run, RunSpec } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { insertApprovalRequest } from '../approvals/request-approval';
import { listRunContexts } from '../contexts/run-contexts';
import type { Definition } from '../workers/definition';
import type { StartableWorker } from '../workers/startable-worker';
import { admitCode } from './admit-code';
import { requireMonthlyBudget } from './month-cost';
import type { StartRunDeps } from './run-deps';
import { checkInputs, storeInputs } from './run-inputs';
import { addConversation, type Runnable } from './runnable';
import { checkTokenBudgets, insertTokenRun, reserveTokenBudgets } from './token-budget';

type RunTrigger = 'api' | 'webhook' | 'schedule' | 'event' | 'call' | 'replay' | 'test';

export interface StartRunRequest
  extends Pick<NewRun, 'parentRunId' | 'depth' | 'requestId' | 'traceparent' | 'idempotencyKey'> {
  worker: StartableWorker;
  /** Default: the current one. */
  version?: number;
  /** Instead of a version: code that no version has. The run is a test then. */
  draft?: Runnable;
  inputs: Record<string, unknown>;
  trigger: RunTrigger;
  /** User or token; null without a caller. */
  createdBy: string | null;
  /**
   * The restriction of the calling token: whether the run is held for a person, what it counts against, and which
   * workers it may call.
   */
  restriction?: Pick<Restriction, 'requireApproval' | 'budgets' | 'workers' | 'automations'> | undefined;
  /**
   * The caller's transaction: the run commits with it. Without one the run is committed when this resolves, and may be
   * with an executor already.
   */
  tx?: PoolClient;
  /** Time to wait for its end; never inside a transaction. Default: 0. */
  waitMs?: number;
  /** Schedules: the fire time. One fire makes one run. Only with `tx`. */
  scheduledFor?: Date;
  /** -100 to 100; default: the worker's. */
  priority?: number;
  /** Messages before the one that the inputs have. Default: those of the run that is repeated. */
  conversation?: JobConversation;
  /** The run that is repeated: files that the inputs leave as it shows them are used again. */
  replayOf?: Run;
}

/**
 * Null only for a fire time that has its run already.
 * @throws AppError 409 paused, archived, version_not_approved, budget_exceeded, or a context that is not there; 429
 *   above the worker's own rate; 400 naming every input that is wrong
 */
export function startRun(deps: StartRunDeps, request: StartRunRequest & { scheduledFor?: undefined }): Promise<Run>;
export function startRun(deps: StartRunDeps, request: StartRunRequest): Promise<Run | null>;
export async function startRun(deps: StartRunDeps, request: StartRunRequest): Promise<Run | null> {
  const { worker, draft } = request;
  // The person who mends a paused worker tries it out before it goes on.
  if (worker.status !== 'active' && !(draft && worker.status === 'paused')) {
    throw conflict(worker.status, `this worker is ${worker.status}; ${REMEDY[worker.status]} to run it`);
  }
  const sql: Sql = request.tx ?? deps.pool;
  const runnable = draft ?? (await deps.runnables.get(sql, worker.uid, request.version ?? worker.currentVersion));
  const { definition } = runnable;
  const admission = { worker, runnable, isDraft: draft !== undefined };
  const { spec, canChangeContexts } = await admitCode(sql, deps.dashboardUrl, admission);
  await requireMonthlyBudget(deps, sql, worker, definition);
  const budgets = request.restriction?.budgets;
  if (budgets) await checkTokenBudgets(sql, budgets);
  const inputs = {
    inputs: request.inputs,
    isStrict: STRICT_INPUT_TRIGGERS.includes(request.trigger),
    replayOf: request.replayOf,
  };
  const checked = checkInputs(inputs, runnable);
  const onlyWorkers = intersectScopes(getTokenScope(request, 'workers'), runnable.spec.onlyWorkers ?? null);
  const contexts = definition.contexts.length
    ? await listRunContexts(sql, worker.workspaceId, definition.contexts, { onlyWorkers, canChange: canChangeContexts })
    : undefined;
  enforceRateLimit(deps, worker.uid, definition);
  // Last: files that were placed for a run that is refused would lie there for nothing.
  const placed = await storeInputs(deps, worker.workspaceId, inputs, definition, checked);
  const run = buildNewRun(request, definition, placed.inputs, {
    ...addConversation(spec, request.conversation ?? request.replayOf?.spec.agent?.conversation),
    files: placed.files,
    ...(contexts && { contexts }),
    ...(onlyWorkers && { onlyWorkers }),
  });
  const { tx, waitMs = 0 } = request;
  if (tx) return insertRunInTransaction(deps, tx, request, definition, run);
  if (!isApprovalRequired(request, definition) && !budgets) return deps.engine.submitAndWait(run, waitMs);
  const inserted = await transaction(deps.pool, (tx) => insertRunInTransaction(deps, tx, request, definition, run));
  return inserted && deps.engine.waitForEnd(inserted, waitMs);
}

/** Clients may give declared inputs only; a webhook's sender or an event says more than a worker asks for. */
const STRICT_INPUT_TRIGGERS: RunTrigger[] = ['api', 'schedule', 'call', 'test'];

const TITLE_CHARS_MAX = 200;
const REMEDY = { paused: 'resume it', archived: 'restore it' };

async function insertRunInTransaction(
  deps: Pick<StartRunDeps, 'engine' | 'now'>,
  tx: PoolClient,
  request: StartRunRequest,
  definition: Definition,
  newRun: NewRun,
): Promise<Run | null> {
  const { approvals } = definition;
  const held = isApprovalRequired(request, definition);
  const budgets = request.restriction?.budgets;
  if (budgets && request.trigger !== 'call') await reserveTokenBudgets(tx, request.worker.workspaceId, budgets);
  const run = await deps.engine.submitInTransaction(tx, { ...newRun, ...(held && { held }) });
  if (run && budgets) await insertTokenRun(tx, run, budgets);
  if (run && held) {
    await insertApprovalRequest(deps, tx, run, {
      title: `Run ${request.worker.name}`.slice(0, TITLE_CHARS_MAX),
      message: approvals.required ? null : 'The token used to request this run requires approval for every run.',
      data: run.inputs,
      form: null,
      expiresInSeconds: approvals.expires_in_seconds,
      stepOrdinal: null,
    });
  }
  return run;
}

/** Approved once, by the worker's rule or the token's. */
const isApprovalRequired = ({ restriction }: StartRunRequest, { approvals }: Definition): boolean =>
  approvals.required || restriction?.requireApproval === true;

function buildNewRun(
  request: StartRunRequest,
  definition: Definition,
  inputs: Record<string, unknown>,
  spec: RunSpec,
): NewRun {
  const { worker, trigger, createdBy, scheduledFor, parentRunId, depth, requestId, traceparent, idempotencyKey } =
    request;
  return {
    workspaceId: worker.workspaceId,
    subjectId: worker.uid,
    subjectRef: worker.id,
    kind: request.draft ? 'test' : 'run',
    trigger,
    version: request.draft ? null : (request.version ?? worker.currentVersion),
    priority: request.priority ?? definition.limits.priority,
    slot: toConcurrencySlot(worker.uid, definition, inputs),
    // A test shows the first failure, and not the last.
    retry: request.draft ? undefined : toRetryPolicy(definition),
    inputs,
    spec,
    createdBy,
    scheduledFor,
    parentRunId,
    depth,
    requestId,
    traceparent,
    idempotencyKey,
  };
}

function toRetryPolicy({ retry }: Definition): RetryPolicy | undefined {
  if (retry.max_attempts === 1) return undefined;
  return {
    max: retry.max_attempts - 1,
    backoffMs: retry.backoff_seconds * 1_000,
    factor: retry.backoff === 'exponential' ? 2 : 1,
    backoffMsMax: retry.max_backoff_seconds * 1_000,
  };
}

/** With a key, runs of equal values share a slot; a worker that only names a key runs one at a time for each value. */
function toConcurrencySlot(uid: string, { limits }: Definition, inputs: Record<string, unknown>): NewRun['slot'] {
  if (limits.concurrency_key === null) {
    return limits.concurrency === null ? undefined : { key: uid, limit: limits.concurrency };
  }
  const value = JSON.stringify(inputs[limits.concurrency_key] ?? null);
  const digest = createHash('sha256').update(value).digest('hex');
  return { key: `${uid}:${digest}`, limit: limits.concurrency ?? 1 };
}

function enforceRateLimit(deps: Pick<StartRunDeps, 'rates'>, workerUid: string, { limits }: Definition): void {
  const limit = limits.runs_per_minute;
  if (limit === null) return;
  const spent = deps.rates.spend(`worker ${workerUid}`, limit);
  if (spent.allowed) return;
  const retryAfterSeconds = getRetryAfterSeconds(spent);
  throw new AppError(
    'rate_limited',
    'worker_rate_limited',
    `this worker can start at most ${limit} runs per minute; try again in ${retryAfterSeconds} s`,
    { retryAfterSeconds },
  );
}
