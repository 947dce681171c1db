/** Starts and stops repairs. */

import { conflict } from '@gantry/errors';
import { addChangeHint, newId } from '@gantry/events';
import type { Actor, OperationCall, Requester } from '@gantry/http';
import { type Sql, transaction } from '@gantry/postgres';
import type { Run } from '@gantry/run-engine';
import { findOwnerId } from '../access/ownership';
import { recordChange } from '../audit/audit-entry';
import { findCandidate, listProposals, lockWorkerTrials } from '../candidates/candidate-repository';
import { cancelCandidateRehearsals, dropCandidateInTransaction } from '../candidates/decide-candidate';
import type { Worker } from '../generated/prisma/client';
import { requireNotArchived } from '../workers/edit-worker';
import type { Repair } from './repair';
import type { RepairDeps } from './repair-deps';
import { findOpenRepair, insertRepair, type NewRepair, stopOpenRepair } from './repair-repository';

/** @returns the id. @throws AppError 400 `unknown_model`; 409, such as `no_model` */
export async function startRepair(
  deps: RepairDeps,
  { caller, actor, markCreated }: Requester,
  { run, worker }: { run: Run; worker: Worker },
  { model, instructions }: NonNullable<OperationCall<'worker', 'repairRun'>['body']>,
): Promise<string> {
  if (run.kind === 'test') {
    throw conflict('test_run', "test and rehearsal runs can't be repaired; choose a run of a worker version");
  }
  if (run.status !== 'failed' && run.status !== 'timed_out') {
    throw conflict('not_failed', `this run did not fail: its status is ${run.status}`);
  }
  requireNotArchived(worker);
  (await deps.models.forWorkspace(worker.workspaceId)).resolve(model);
  const id = newId('rpr_');
  await transaction(deps.pool, async (tx) => {
    await lockWorkerTrials(tx, worker.uid);
    const open = await findOpenRepair(tx, worker.uid);
    if (open) throw conflict('repair_open', formatOpenReason(open));
    await createRepair(tx, actor, {
      id,
      run,
      worker,
      instructions: instructions?.trim() || null,
      askedModel: model ?? '',
      createdBy: findOwnerId(caller),
      createdByLabel: actor.label,
      tokenId: caller.tokenId,
      fingerprint: null,
    });
    await markCreated(tx, id);
  });
  return id;
}

const formatOpenReason = ({ runId, status }: Repair): string =>
  status === 'waiting'
    ? `a repair of this worker (for run ${runId}) is waiting for a decision; approve or reject it first`
    : `a repair of this worker (for run ${runId}) is in progress; wait for it to finish, or stop it`;

type RepairStart = Omit<NewRepair, 'workspaceId' | 'workerUid' | 'runId'> & {
  run: Run;
  worker: Pick<Worker, 'uid' | 'id'>;
};

/** Inserts a repair with its audit entry. */
export async function createRepair(tx: Sql, actor: Actor, { run, worker, ...repair }: RepairStart): Promise<void> {
  const { workspaceId, id: runId } = run;
  await insertRepair(tx, { ...repair, workspaceId, workerUid: worker.uid, runId });
  addChangeHint(tx, workspaceId, 'runs', runId);
  const details = { repair_id: repair.id, run_id: runId };
  await recordChange(tx, actor, 'worker.repair_begun', { workspaceId, id: worker.id }, details);
}

/** Stops a repair and drops its proposals. @throws AppError 409 `not_working` */
export async function stopRepair(deps: RepairDeps, repair: Repair, workerId: string, actor: Actor): Promise<void> {
  const { id, workspaceId, runId } = repair;
  const candidates = await transaction(deps.pool, async (tx) => {
    if (!(await stopOpenRepair(tx, id))) throw conflict('not_working', formatNotStoppedReason(repair));
    const proposed = await listProposals(tx, id);
    const candidatesOrNull = await Promise.all(proposed.map((one) => findCandidate(deps.pool, one)));
    const existing = candidatesOrNull.filter((one) => one !== undefined);
    const decider = { id: repair.createdBy, label: actor.label, actor };
    for (const candidate of existing) await dropCandidateInTransaction(tx, candidate, workerId, decider, deps.now());
    const details = { repair_id: id, run_id: runId };
    await recordChange(tx, actor, 'worker.repair_stopped', { workspaceId, id: workerId }, details);
    addChangeHint(tx, workspaceId, 'runs', runId);
    return existing;
  });
  for (const candidate of candidates) await cancelCandidateRehearsals(deps, candidate);
}

const formatNotStoppedReason = ({ status, approvalId }: Repair): string =>
  status === 'waiting'
    ? `the repair is waiting for a decision on its candidate; reject approval ${approvalId} instead`
    : `this repair has already ended: its status is ${status}`;
