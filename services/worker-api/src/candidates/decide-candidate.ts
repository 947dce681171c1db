/**
 * Promoting a candidate, or dropping it. Worker, candidate, approval and repair are locked in that order wherever
 * several are.
 */

import { type AppError, conflict, notFound } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import { SYSTEM } from '@gantry/http';
import { type Tx, transaction } from '@gantry/postgres';
import type { Decider } from '../approvals/decide-approval';
import { recordChange } from '../audit/audit-entry';
import type { Prisma } from '../generated/prisma/client';
import { truncateText } from '../rehearsals/compare-outputs';
import { cancelRehearsals } from '../rehearsals/rehearse';
import { appendVersion } from '../workers/append-version';
import { requireNotArchived } from '../workers/edit-worker';
import { requireAllowedExposure } from '../workers/exposure';
import { approveWithDecision } from '../workers/version-approval';
import { getCurrentVersion } from '../workers/version-repository';
import { findWorkerSummary, lockWorker } from '../workers/worker-queries';
import { findWorkerByUid } from '../workers/worker-repository';
import { type Candidate, type CandidateStatus, OPEN_STATUSES, toApprovableCode } from './candidate';
import type { CandidateDeps } from './candidate-deps';
import { findCandidate, listActiveRehearsals, transitionCandidate } from './candidate-repository';
import { loadCandidateScope } from './candidate-scope';

/** Bounds the message of a version. */
const MESSAGE_CHARS_MAX = 500;

/**
 * Appends it as the version that runs from now on.
 * @param from the states in which it may be
 * @throws AppError 403 where what it exposes may no longer be, or where a restricted token would approve its code; 404;
 *   409 `archived`, `worker_changed`, `already_decided`
 */
export async function promoteCandidateInTransaction(
  tx: Prisma.TransactionClient,
  candidate: Candidate,
  { id, label, actor, caller }: Decider,
  { from, now }: { from: readonly CandidateStatus[]; now: Date },
): Promise<void> {
  const { workspaceId, workerUid, baseSha, sha, definition, files, code, message } = candidate;
  await lockWorker(tx, workspaceId, workerUid);
  const worker = await findWorkerByUid(tx, workspaceId, workerUid);
  if (!worker) throw notFound('candidate', candidate.id, 'for this worker');
  requireNotArchived(worker);
  const isDecided = await transitionCandidate(tx, candidate.id, from, {
    status: 'promoted',
    decision: { id, label, at: now },
  });
  if (!isDecided) throw conflict('already_decided', 'another person has just promoted or dropped this candidate');
  const current = await getCurrentVersion(tx, worker);
  if (current.sha !== baseSha) throw createWorkerChangedError(candidate, current.sha);
  await requireAllowedExposure(tx, worker, id, definition);
  const approvable = toApprovableCode(candidate);
  await approveWithDecision(tx, worker, approvable, { caller, label, actor, now });
  const onlyWorkers = await loadCandidateScope(tx, candidate);
  const number = await appendVersion(tx, worker, {
    version: {
      sha,
      definition,
      files,
      code,
      needsApproval: approvable.needsApproval,
      onlyWorkers,
      message: message === null ? 'Promoted candidate' : truncateText(message, MESSAGE_CHARS_MAX),
      authorId: id,
      authorLabel: label,
      changeSource: 'candidate',
    },
    from: baseSha,
    actor,
    now,
    details: { candidate_id: candidate.id },
  });
  const details = { candidate_id: candidate.id, version: number, from: baseSha, to: sha };
  await recordChange(tx, actor, 'worker.candidate_promoted', { workspaceId, id: worker.id }, details);
}

const createWorkerChangedError = ({ baseSha }: Candidate, current: string): AppError =>
  conflict(
    'worker_changed',
    `the worker has changed: this candidate is based on version ${baseSha.slice(0, 8)}, but the worker is now at version ${current.slice(0, 8)}. Propose the change again from the current version, or go back to the earlier version first`,
  );

/** @returns false where it was decided before */
export async function dropCandidateInTransaction(
  tx: Tx,
  { id: candidateId, workspaceId, sha }: Candidate,
  workerId: string,
  { id, label, actor }: Omit<Decider, 'caller'>,
  now: Date,
): Promise<boolean> {
  const decision = { id, label, at: now };
  const isDecided = await transitionCandidate(tx, candidateId, OPEN_STATUSES, { status: 'dropped', decision });
  if (!isDecided) return false;
  const details = { candidate_id: candidateId, sha };
  await recordChange(tx, actor, 'worker.candidate_dropped', { workspaceId, id: workerId }, details);
  addChangeHint(tx, workspaceId, 'workers');
  return true;
}

/** @throws AppError 409 that says why it can't be promoted or dropped by itself */
export function requireUndecidedCandidate({ status, decidedByLabel, decidedBy, repairId }: Candidate): void {
  if (!OPEN_STATUSES.includes(status)) {
    throw conflict(
      'already_decided',
      `this candidate was ${status} by ${decidedByLabel ?? decidedBy ?? 'the platform'}`,
    );
  }
  if (repairId !== null) {
    throw conflict(
      'repair_decides',
      "this candidate belongs to a repair; respond to the repair's approval request, or stop the repair",
    );
  }
}

/** @throws AppError 409 */
export async function promoteCandidate(
  deps: CandidateDeps,
  candidate: Candidate,
  decider: Decider,
  force: boolean,
): Promise<void> {
  requireUndecidedCandidate(candidate);
  if (!force && candidate.status === 'rehearsing') {
    throw conflict(
      'rehearsing',
      'rehearsals of this candidate are still running; wait for them to finish, or promote it with force: true',
    );
  }
  if (!force && candidate.status === 'failed') {
    throw conflict(
      'nothing_rehearsed',
      `this candidate could not be rehearsed (${candidate.error}); promote it with force: true, or drop it`,
    );
  }
  const from: CandidateStatus[] = force ? [...OPEN_STATUSES] : ['ready'];
  await transaction(deps.prisma, (tx) =>
    promoteCandidateInTransaction(tx, candidate, decider, { from, now: deps.now() }),
  );
  await cancelCandidateRehearsals(deps, candidate);
}

/** @throws AppError 409 */
export async function dropCandidate(
  deps: CandidateDeps,
  candidate: Candidate,
  workerId: string,
  decider: Decider,
): Promise<void> {
  requireUndecidedCandidate(candidate);
  const isDropped = await transaction(deps.prisma, (tx) =>
    dropCandidateInTransaction(tx, candidate, workerId, decider, deps.now()),
  );
  if (!isDropped) requireUndecidedCandidate((await findCandidate(deps.pool, candidate.id)) ?? candidate);
  await cancelCandidateRehearsals(deps, candidate);
}

/** Cancels the rehearsals of a candidate that was decided. */
export const cancelCandidateRehearsals = async (deps: CandidateDeps, { id, workspaceId }: Candidate): Promise<void> =>
  cancelRehearsals(deps, workspaceId, await listActiveRehearsals(deps.pool, id));

export const PLATFORM: Omit<Decider, 'caller'> = { id: null, label: null, actor: SYSTEM };

/** Drops a candidate for the platform, unless it was deleted with its worker. */
export async function dropForPlatform(deps: CandidateDeps, candidateId: string): Promise<void> {
  const { pool, prisma, now } = deps;
  const candidate = await findCandidate(pool, candidateId);
  const worker = candidate && (await findWorkerSummary(pool, candidate.workspaceId, { uid: candidate.workerUid }));
  if (!worker) return;
  await transaction(prisma, (tx) => dropCandidateInTransaction(tx, candidate, worker.id, PLATFORM, now()));
  await cancelCandidateRehearsals(deps, candidate);
}
