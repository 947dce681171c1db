import { isDeepStrictEqual } from 'node:util';
import { conflict, invalid, notFound, runChecks } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { isTerminal, type Run } from '@gantry/run-engine';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import type { ModelRegistry } from '../models/model-registry';
import { parseOutput, toRunOutput } from '../runs/output-object';
import { checkInputs } from '../runs/run-inputs';
import { requireNotArchived } from '../workers/edit-worker';
import type { WorkerKey } from '../workers/version-repository';
import { lockWorker } from '../workers/worker-queries';
import { getVisibleWorker, type WorkerWithTriggers } from '../workers/worker-repository';
import { CHECKED_OUTPUT_BYTES_MAX, CHECKS_TOO_LARGE, type Check, filterJudges, parseChecks } from './check';
import { type Example, findInputsProblem } from './example';
import type { ExampleDeps } from './example-deps';
import {
  countExamples,
  deleteExample,
  getExample,
  insertExample,
  lockExample,
  updateExample,
} from './example-repository';

export const EXAMPLES_MAX = 200;

/**
 * Row and audit entry commit together.
 * @throws AppError 400 naming each input and check that is wrong; 404 for an unknown worker or run; 409 `archived`,
 *   `not_ended`, `too_many_examples`
 */
export async function createExample(
  deps: ExampleDeps,
  { caller, actor, markCreated }: Requester,
  workerId: string,
  body: OperationCall<'worker', 'createExample'>['body'],
): Promise<Example> {
  const worker = await getVisibleWorker(deps.prisma, caller, workerId);
  requireNotArchived(worker);
  const sourceRun = body.run_id === undefined ? null : await getEndedRun(deps, worker, body.run_id);
  if (sourceRun && body.inputs) throw invalid([{ path: 'inputs', message: 'cannot be combined with run_id' }]);
  const inputs = sourceRun?.inputs ?? body.inputs ?? {};
  const requestedChecks = body.checks ?? (await listDefaultChecks(deps, sourceRun));
  const models = await deps.models.forWorkspace(worker.workspaceId);
  const [checks] = runChecks(
    () => parseExampleChecks(models, requestedChecks),
    () => requireInputs(inputs),
  );
  await requireMatchingInputs(deps, worker, inputs, sourceRun);
  const { id: workerSlug, workspaceId, uid } = worker;
  const id = newId('ex_');
  const example = {
    id,
    workspaceId,
    uid,
    name: body.name.trim(),
    description: body.description ?? '',
    inputs,
    checks,
    maxDurationSeconds: body.max_duration_seconds ?? null,
    maxCostUsd: body.max_cost_usd ?? null,
    enabled: body.enabled ?? true,
    ofRunId: sourceRun?.id ?? null,
    createdBy: findOwnerId(caller),
  };
  return transaction(deps.pool, async (tx) => {
    // One example at a time: their number has a limit.
    if (!(await lockWorker(tx, worker.workspaceId, worker.uid))) throw notFound('worker', workerSlug);
    if ((await countExamples(tx, worker)) >= EXAMPLES_MAX) {
      throw conflict('too_many_examples', `this worker already has ${EXAMPLES_MAX} examples; delete some first`);
    }
    await insertExample(tx, example);
    const details = { worker_id: workerSlug, name: example.name };
    await recordChange(tx, actor, 'example.created', { workspaceId, id }, details);
    await markCreated(tx, id);
    return getExample(tx, worker, id);
  });
}

/**
 * @throws AppError 400, 404; 409 `archived`, or `run_gone` where inputs are to be checked against a run that is not
 * kept
 */
export async function editExample(
  deps: ExampleDeps,
  { caller, actor }: Requester,
  workerId: string,
  exampleId: string,
  body: OperationCall<'worker', 'updateExample'>['body'],
): Promise<Example> {
  const worker = await getVisibleWorker(deps.prisma, caller, workerId);
  requireNotArchived(worker);
  const before = await getExample(deps.pool, worker, exampleId);
  const { inputs } = body;
  const models = await deps.models.forWorkspace(worker.workspaceId);
  const [checks] = runChecks(
    () => (body.checks ? parseExampleChecks(models, body.checks) : null),
    () => inputs && requireInputs(inputs),
  );
  if (inputs) {
    await requireMatchingInputs(
      deps,
      worker,
      inputs,
      before.ofRunId === null ? null : await loadPinnedRun(deps, worker, before.ofRunId),
    );
  }
  const { id: workerSlug, workspaceId, uid } = worker;
  return transaction(deps.pool, async (tx) => {
    const present = await lockExample(tx, worker, exampleId);
    const name = body.name?.trim() ?? present.name;
    await updateExample(tx, {
      ...present,
      workspaceId,
      uid,
      name,
      ...(body.description !== undefined && { description: body.description }),
      ...(inputs && { inputs }),
      ...(checks && { checks }),
      ...(body.max_duration_seconds !== undefined && { maxDurationSeconds: body.max_duration_seconds }),
      ...(body.max_cost_usd !== undefined && { maxCostUsd: body.max_cost_usd }),
      ...(body.enabled !== undefined && { enabled: body.enabled }),
    });
    const details = { worker_id: workerSlug, name, fields: Object.keys(body) };
    await recordChange(tx, actor, 'example.updated', { workspaceId, id: exampleId }, details);
    return getExample(tx, worker, exampleId);
  });
}

/** @throws AppError 404 */
export async function removeExample(
  deps: ExampleDeps,
  { caller, actor }: Requester,
  workerId: string,
  exampleId: string,
): Promise<void> {
  const worker = await getVisibleWorker(deps.prisma, caller, workerId);
  const { name } = await getExample(deps.pool, worker, exampleId);
  await transaction(deps.pool, async (tx) => {
    if (!(await deleteExample(tx, worker, exampleId))) throw notFound('example', exampleId, 'for this worker');
    const { workspaceId, id: workerSlug } = worker;
    await recordChange(tx, actor, 'example.deleted', { workspaceId, id: exampleId }, { worker_id: workerSlug, name });
  });
}

async function getEndedRun({ engine }: ExampleDeps, { uid, workspaceId }: WorkerKey, runId: string): Promise<Run> {
  const run = await engine.get(workspaceId, runId);
  if (run.subjectId !== uid) throw notFound('run', runId, 'for this worker');
  if (!isTerminal(run.status)) throw conflict('not_ended', `this run has not ended yet: its status is ${run.status}`);
  return run;
}

async function loadPinnedRun(deps: ExampleDeps, worker: WorkerKey, runId: string): Promise<Run> {
  return getEndedRun(deps, worker, runId).catch(() => {
    throw conflict('run_gone', `run ${runId}, which this example was made from, no longer exists; make a new example`);
  });
}

/** The worker does as the run did. */
async function listDefaultChecks({ engine }: ExampleDeps, sourceRun: Run | null): Promise<unknown[]> {
  if (!sourceRun) throw invalid([{ path: 'checks', message: 'is required unless the example is made from a run' }]);
  const { status } = sourceRun;
  if (status === 'completed') {
    const stored = await engine.loadStoredOutput(sourceRun);
    // Not parsed in vain: 8 MB would keep the event loop for 0.1 s.
    if ('json' in stored && stored.json.byteLength > CHECKED_OUTPUT_BYTES_MAX) throw invalid([CHECKS_TOO_LARGE]);
    return [{ kind: 'equal', value: toRunOutput(sourceRun, parseOutput(stored)) }];
  }
  if (status === 'failed' || status === 'timed_out') return [{ kind: 'fails' }];
  throw invalid([{ path: 'checks', message: `is required: a ${status} run has no outcome to compare against` }]);
}

/** @throws AppError 400, also for a judge whose model there is not, where there are others */
function parseExampleChecks(models: ModelRegistry, requestedChecks: unknown): Check[] {
  const checks = parseChecks(requestedChecks);
  if (models.list.length) for (const { model } of filterJudges(checks)) models.resolve(model);
  return checks;
}

function requireInputs(inputs: Record<string, unknown>): void {
  const problem = findInputsProblem(inputs);
  if (problem) throw invalid([problem]);
}

/** @throws AppError 400 naming every input that the current version refuses, and every file that is not the run's */
async function requireMatchingInputs(
  { pool, runnables }: ExampleDeps,
  { uid, currentVersion }: Pick<WorkerWithTriggers, 'uid' | 'currentVersion'>,
  inputs: Record<string, unknown>,
  sourceRun: Run | null,
): Promise<void> {
  const runnable = await runnables.get(pool, uid, currentVersion);
  const isRunFile = (name: string) =>
    sourceRun?.spec.files.some(({ input }) => input === name) &&
    isDeepStrictEqual(inputs[name], sourceRun.inputs[name]);
  const strange = runnable.definition.inputs.filter(
    ({ name, type }) => type === 'file' && inputs[name] !== undefined && inputs[name] !== null && !isRunFile(name),
  );
  if (strange.length) {
    const message = 'is a file, which must come from a run: specify a run_id and leave this input unchanged';
    throw invalid(strange.map(({ name }) => ({ path: `inputs.${name}`, message })));
  }
  checkInputs({ inputs, isStrict: sourceRun === null, replayOf: sourceRun ?? undefined }, runnable);
}
