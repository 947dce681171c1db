/**
 * A run of a worker's code that has no effect outside: see "Rehearsals" in docs/workers/README.md, and ADR 48.
 *
 * It holds no slot, counts against no rate, is never held for approval and never tried again. Its cost counts towards
 * the worker's month like that of a test.
 */
import { AppError, conflict } from '@gantry/errors';
import { REHEARSAL, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { listRunContexts } from '../contexts/run-contexts';
import type { Worker } from '../generated/prisma/client';
import { admitCode } from '../runs/admit-code';
import { requireMonthlyBudget } from '../runs/month-cost';
import { checkInputs, storeInputs } from '../runs/run-inputs';
import { addConversation, type Runnable } from '../runs/runnable';
import type { RehearsalDeps } from './rehearsal-deps';

export interface RehearsalRequest {
  worker: Pick<Worker, 'uid' | 'id' | 'workspaceId' | 'name' | 'status' | 'currentVersion'>;
  /** Default: the current one. */
  version?: number;
  /** Instead of a version: code that no version has. */
  draft?: Runnable;
  /** Files among them that are as `of` shows them are used again. */
  inputs: Record<string, unknown>;
  /** The run of this worker whose records answer; null: nothing was recorded. */
  of: Run | null;
  createdBy: string | null;
  /** A repair wrote the code: see Rehearsal. */
  isUnread?: boolean;
}

/** Behind the runs of the workspace that people wait for. */
const PRIORITY = -50;

/**
 * The rehearsal commits with the transaction. Paused workers rehearse too, for the person who mends them.
 * @throws AppError 409 archived, version_not_approved, budget_exceeded, no_version, or a context that is not there;
 *   400 naming every input that is wrong
 */
export async function rehearse(deps: RehearsalDeps, tx: PoolClient, request: RehearsalRequest): Promise<Run> {
  const { worker, draft, of, createdBy, isUnread = false } = request;
  const { workspaceId } = worker;
  if (worker.status === 'archived') throw conflict('archived', 'this worker is archived; restore it to rehearse it');
  if (of && (of.workspaceId !== workspaceId || of.subjectId !== worker.uid)) {
    throw new Error('a rehearsal must use a run of the same worker');
  }
  const version = request.version ?? worker.currentVersion;
  const runnable = draft ?? (await deps.runnables.get(tx, worker.uid, version));
  const { definition } = runnable;
  const { spec } = await admitCode(tx, deps.dashboardUrl, { worker, runnable, isUnread });
  await requireMonthlyBudget(deps, tx, worker, definition);
  const inputs = { inputs: request.inputs, isStrict: !of, replayOf: of ?? undefined };
  const checked = checkInputs(inputs, runnable);
  const contexts = definition.contexts.length
    ? await listRunContexts(tx, workspaceId, definition.contexts, { onlyWorkers: spec.onlyWorkers })
    : [];
  const placed = await storeInputs(deps, workspaceId, inputs, definition, checked);
  const run = {
    workspaceId,
    subjectId: worker.uid,
    subjectRef: worker.id,
    createdBy,
    kind: 'test' as const,
    trigger: REHEARSAL,
    version: draft ? null : version,
    priority: PRIORITY,
    inputs: placed.inputs,
    ...(of && { parentRunId: of.id }),
    spec: {
      ...addConversation(spec, of?.spec.agent?.conversation),
      files: placed.files,
      // Nothing is written back: that follows from `run.finished`.
      ...(contexts.length && { contexts }),
      rehearsal: { of: of?.id ?? null, ...(isUnread && { isUnread: true as const }) },
    },
  };
  const made = await deps.engine.submitInTransaction(tx, run);
  if (!made) throw new Error('a rehearsal has no fire time');
  return made;
}

/**
 * Starts a rehearsal that commits together with its case.
 * @returns the refusal where none can be made; nothing was written then
 */
export async function startRehearsal(
  deps: RehearsalDeps,
  tx: PoolClient,
  request: RehearsalRequest,
): Promise<Run | AppError> {
  await tx.query('SAVEPOINT rehearsal');
  try {
    const started = await rehearse(deps, tx, request);
    await tx.query('RELEASE SAVEPOINT rehearsal');
    return started;
  } catch (err) {
    if (!(err instanceof AppError)) throw err;
    await tx.query('ROLLBACK TO SAVEPOINT rehearsal');
    await tx.query('RELEASE SAVEPOINT rehearsal');
    return err;
  }
}

/** Cancels rehearsals that are no longer needed. They have no effect, so one that is missed does no harm. */
export async function cancelRehearsals(
  { engine, log }: Pick<RehearsalDeps, 'engine' | 'log'>,
  workspaceId: string,
  runIds: string[],
): Promise<void> {
  for (const runId of runIds) {
    await engine.cancel(workspaceId, runId).catch((err) => log.info({ err, runId }, 'could not cancel a rehearsal'));
  }
}
