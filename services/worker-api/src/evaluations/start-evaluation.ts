import { AppError, conflict, invalid } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { OperationCall, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { PoolClient } from 'pg';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { filterJudges } from '../examples/check';
import type { Example } from '../examples/example';
import { listExamplesToEvaluate } from '../examples/example-repository';
import type { ModelRegistry } from '../models/model-registry';
import { admitCode } from '../runs/admit-code';
import { requireMonthlyBudget } from '../runs/month-cost';
import { requireNotArchived } from '../workers/edit-worker';
import { findVersion, getRequestedVersion, type Version } from '../workers/version-repository';
import { findWorkerByUid, getVisibleWorker, type WorkerWithTriggers } from '../workers/worker-repository';
import { endEvaluationWithEvent } from './end-evaluation';
import type { Evaluation } from './evaluation';
import type { EvaluationDeps } from './evaluation-deps';
import {
  deleteOldEvaluations,
  findRunningEvaluation,
  getEvaluation,
  insertEvaluation,
  type NewEvaluation,
} from './evaluation-repository';
import { insertResults } from './result-repository';

/**
 * Evaluation, copies of the examples and audit entry commit together; the loop runs them.
 * @throws AppError 400, 404; 409 `archived`, `version_not_approved`, `no_examples`, `budget_exceeded`,
 * `evaluation_under_way`, `no_model`
 */
export async function startEvaluation(
  deps: EvaluationDeps,
  { caller, actor, markCreated }: Requester,
  workerId: string,
  { sha, example_ids: ids }: NonNullable<OperationCall<'worker', 'startEvaluation'>['body']>,
): Promise<Evaluation> {
  const worker = await getVisibleWorker(deps.prisma, caller, workerId);
  requireNotArchived(worker);
  const { workspaceId } = worker;
  const version = await getRequestedVersion(deps.prisma, worker, sha);
  const examples = await listExamplesToEvaluate(deps.pool, worker, ids);
  requireKnownExamples(examples, ids);
  requireJudges(await deps.models.forWorkspace(workspaceId), examples);
  const runnable = await deps.runnables.get(deps.pool, worker.uid, version.number);
  await admitCode(deps.pool, deps.dashboardUrl, { worker, runnable });
  await requireMonthlyBudget(deps, deps.pool, worker, version.definition);
  const evaluation = buildEvaluation(worker, version, { trigger: 'person', createdBy: findOwnerId(caller) });
  const { id } = evaluation;
  const started = await transaction(deps.pool, async (tx) => {
    if (!(await insertWithResults(tx, evaluation, examples))) return null;
    const details = { worker_id: worker.id, sha: version.sha, examples: examples.length };
    await recordChange(tx, actor, 'evaluation.started', { workspaceId, id }, details);
    await markCreated(tx, id);
    return getEvaluation(tx, worker, id);
  });
  if (!started) throw await createAlreadyRunningError(deps, worker, version.sha);
  deps.evaluationLoop.kick();
  return started;
}

/**
 * One that its saving starts, in the transaction of the event. Nothing happens without enabled examples, and the
 * second time.
 */
export async function evaluateSavedVersion(
  deps: EvaluationDeps,
  tx: PoolClient,
  { workspaceId, uid, version }: { workspaceId: string; uid: string; version: number },
): Promise<void> {
  const worker = await findWorkerByUid(deps.prisma, workspaceId, uid);
  if (!worker?.evaluateOnSave || worker.status === 'archived') return;
  const examples = await listExamplesToEvaluate(tx, worker);
  if (!examples.length) return;
  const saved = await findVersion(deps.prisma, worker, version);
  if (!saved) return;
  const evaluation = buildEvaluation(worker, saved, { trigger: 'save', createdBy: saved.authorId });
  if (!(await insertWithResults(tx, evaluation, examples))) return;
  const models = await deps.models.forWorkspace(workspaceId);
  const runnable = await deps.runnables.get(tx, uid, version);
  const problem =
    (await findProblem(() => admitCode(tx, deps.dashboardUrl, { worker, runnable }))) ??
    (await findProblem(() => requireJudges(models, examples)));
  if (problem)
    await endEvaluationWithEvent(
      tx,
      { id: evaluation.id, workspaceId, workerUid: uid },
      { status: 'failed', error: problem },
    );
}

const buildEvaluation = (
  { workspaceId, uid }: WorkerWithTriggers,
  { number: version, sha }: Version,
  start: Pick<NewEvaluation, 'trigger' | 'createdBy'>,
): NewEvaluation => ({ id: newId('eval_'), workspaceId, uid, version, sha, ...start });

async function insertWithResults(tx: PoolClient, evaluation: NewEvaluation, examples: Example[]): Promise<boolean> {
  if (!(await insertEvaluation(tx, evaluation))) return false;
  await insertResults(tx, evaluation.id, examples);
  await deleteOldEvaluations(tx, evaluation.uid);
  return true;
}

function requireKnownExamples(examples: Example[], ids: string[] | undefined): void {
  if (!ids && !examples.length) {
    throw conflict('no_examples', 'this worker has no enabled examples; add one, or specify which examples to run');
  }
  // Bounded: 200 ids (`maxItems` of the OpenAPI document) and 200 examples (EXAMPLES_MAX).
  const unknown = (ids ?? []).flatMap((id, at) => (examples.some((one) => one.id === id) ? [] : [{ id, at }]));
  if (!unknown.length) return;
  throw invalid(
    unknown.map(({ id, at }) => ({ path: `example_ids.${at}`, message: `this worker has no example ${id}` })),
  );
}

/** @throws AppError 409 `no_model`, or for a model that there is not any more */
function requireJudges(models: ModelRegistry, examples: Example[]): void {
  for (const { name, checks } of examples) {
    for (const { model } of filterJudges(checks)) {
      try {
        models.resolve(model);
      } catch (err) {
        if (!(err instanceof AppError) || err.kind !== 'invalid') throw err;
        throw conflict(err.code, `example "${name}": ${err.detail}`);
      }
    }
  }
}

async function findProblem(check: () => unknown): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (err) {
    if (err instanceof AppError) return err.detail;
    throw err;
  }
}

async function createAlreadyRunningError(
  deps: EvaluationDeps,
  worker: WorkerWithTriggers,
  sha: string,
): Promise<AppError> {
  const id = await findRunningEvaluation(deps.pool, worker, sha);
  const detail = 'an evaluation of this version is in progress; wait for it to finish, or stop it';
  return new AppError('conflict', 'evaluation_under_way', detail, {
    ...(id !== undefined && { fields: [{ path: 'id', message: id }] }),
  });
}
