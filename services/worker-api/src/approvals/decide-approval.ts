/** Approves or rejects. The caller has checked the permission. */

import { type AppError, conflict, invalid } from '@gantry/errors';
import type { Actor, OperationCall, Requester } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { lockRun, type Run } from '@gantry/run-engine';
import { findOwnerId } from '../access/ownership';
import type { Approval } from '../generated/prisma/client';
import { createAlreadyDecidedError, getForm, parseAnswer, requireAnswerSize, requirePendingApproval } from './approval';
import type { ApprovalDeps } from './approval-deps';
import { getApprovalById } from './approval-repository';
import { isCandidateApproval } from './candidate-decisions';
import { decideCalls } from './decide-calls';
import { findStoredCalls } from './held-calls';
import { type SettleDeps, settleApprovalInTransaction, settleCandidate } from './settle-approval';

export type Verdict = 'approve' | 'reject';

export interface Decider {
  /** User or token; null for the holder of a link and for the platform. */
  id: string | null;
  /** The name shown to the run's code, in the log and to other people. */
  label: string | null;
  actor: Actor;
  /** Null: the holder of a link, or the platform. A person who approves a candidate also approves its code. */
  caller: Principal | null;
}

/** Builds the decider of a request that has a credential. */
export function buildDecider({ caller, actor }: Pick<Requester, 'caller' | 'actor'>): Decider {
  const id = findOwnerId(caller);
  return { id, label: actor.label ?? id, actor, caller };
}

/**
 * @throws AppError 400 naming fields of the form or arguments of calls; 409 decided, expired, its run has ended, or its
 * worker has changed
 */
export async function decideApproval(
  deps: ApprovalDeps,
  approval: Approval,
  verdict: Verdict,
  { reason, data, calls }: NonNullable<OperationCall<'worker', 'approve'>['body']>,
  { id, label, actor, caller }: Decider,
): Promise<void> {
  const decidedAt = deps.now();
  requirePendingApproval(approval, decidedAt);
  if (calls && approval.calls === null)
    throw invalid([{ path: 'calls', message: 'this approval has no calls' }], 'invalid_calls');
  const approves = verdict === 'approve';
  const decision = {
    status: approves ? ('approved' as const) : ('rejected' as const),
    decidedBy: id,
    decidedByLabel: label,
    decidedAt,
    reason: reason?.trim() || null,
    answer: approves ? parseAnswer(getForm(approval), data) : requireAnswerSize(data ?? null),
  };
  if (isCandidateApproval(approval)) return decideCandidate(deps, { approval, actor, decision, caller });
  const run = await deps.engine.get(approval.workspaceId, approval.runId);
  if (run.status !== 'pending_approval') throw await createDecisionConflictError(deps, approval, run);
  const held = findStoredCalls(approval);
  const decidesCalls = approves && held !== null;
  const input = { calls, reason: decision.reason, canCorrect: id !== null };
  const decidedCalls = decidesCalls ? { calls: await decideCalls(deps, run, held, input) } : {};
  const moved = await transaction(deps.pool, async (tx) => {
    await lockRun(tx, run.id);
    return settleApprovalInTransaction(deps, tx, { approval, run, actor, decision: { ...decision, ...decidedCalls } });
  });
  if (!moved) throw await createDecisionConflictError(deps, approval, run);
}

/** Reports to the second of two deciders who was first. */
async function decideCandidate(deps: SettleDeps, settlement: Parameters<typeof settleCandidate>[1]): Promise<void> {
  await settleCandidate(deps, settlement).catch(async (err) => {
    const approval = await getApprovalById(deps.prisma, settlement.approval.id);
    throw approval.status === 'pending' ? err : createAlreadyDecidedError(approval);
  });
}

/** Reports the conflict with another decision, or with the end of the run. */
async function createDecisionConflictError(
  { prisma }: SettleDeps,
  { id }: Approval,
  { status }: Run,
): Promise<AppError> {
  const approval = await getApprovalById(prisma, id);
  if (approval.status !== 'pending') return createAlreadyDecidedError(approval);
  return conflict('not_waiting', `the run is no longer waiting for this approval: its status is ${status}`);
}
