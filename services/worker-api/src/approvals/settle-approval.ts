/**
 * Ends pending approvals; nothing else does.
 *
 * Approval, run, event and audit entry change in one transaction, which locks the run's row first. Every other
 * transaction on both uses the same lock order, so there are no deadlocks. Of two concurrent decisions the second
 * finds it decided, and learns by whom. For a candidate, the worker's row is locked first.
 */

import { conflict } from '@gantry/errors';
import { approvalDecided, enqueue, type RunError } from '@gantry/events';
import type { Actor } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { type Tx, transaction } from '@gantry/postgres';
import { isTerminal, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { recordChange } from '../audit/audit-entry';
import type { Approval } from '../generated/prisma/client';
import type { ApprovalDeps } from './approval-deps';
import { type Decision, markApprovalDecided } from './approval-repository';
import type { CandidateApproval } from './candidate-decisions';

export type SettleDeps = Pick<ApprovalDeps, 'prisma' | 'pool' | 'engine' | 'candidateDecisions' | 'now' | 'log'>;

/**
 * Settles it in a transaction that holds the lock on the run's row. An approved run continues; any other decision ends
 * it, unless it has already ended.
 * @param run as it was read before the transaction
 * @returns the updated run; null if another decision was first. @throws AppError 409 if the run does not wait for this
 * approval
 */
export async function settleApprovalInTransaction(
  { engine }: Pick<SettleDeps, 'engine'>,
  tx: PoolClient,
  { approval, run, actor, decision }: { approval: Approval; run: Run; actor: Actor; decision: Decision },
): Promise<Run | null> {
  if (!(await markApprovalDecided(tx, approval.id, decision))) return null;
  await enqueueDecisionEvents(tx, approval, actor, decision);
  if (isTerminal(run.status) && decision.status === 'expired') return run;
  await engine.appendEventInTransaction(tx, run.id, toDecisionEvent(approval, decision));
  const moved =
    decision.status === 'approved'
      ? await engine.resumeInTransaction(tx, run.id, {
          from: 'pending_approval',
          reason: `approved by ${decision.decidedByLabel ?? decision.decidedBy}`,
          ...buildStepResult(approval, decision),
        })
      : await engine.endInTransaction(tx, run, { status: 'rejected', error: toRejectionError(decision) });
  if (moved) return moved;
  throw conflict('not_waiting', 'the run is no longer waiting for this approval');
}

interface CandidateSettlement {
  approval: CandidateApproval;
  actor: Actor;
  decision: Decision;
  caller: Principal | null;
}

/**
 * Promotes an approved candidate; any other decision drops it.
 * @throws AppError 409 where another decision was first, or the worker has another version by now: nothing has
 * happened then
 */
export function settleCandidate(
  { prisma, candidateDecisions }: Pick<SettleDeps, 'prisma' | 'candidateDecisions'>,
  { approval, actor, decision, caller }: CandidateSettlement,
): Promise<void> {
  return transaction(prisma, async (tx) => {
    await candidateDecisions.settleInTransaction(tx, approval, decision, { actor, caller });
    if (!(await markApprovalDecided(tx, approval.id, decision))) {
      throw conflict('already_decided', 'this approval has just been decided by another person');
    }
    await enqueueDecisionEvents(tx, approval, actor, decision);
  });
}

/** Builds the return value of `context.approve()`; a run held before its start has none. */
function buildStepResult(
  { stepOrdinal: ordinal }: Approval,
  { decidedBy, decidedByLabel, decidedAt, answer, calls }: Decision,
) {
  if (ordinal === null) return {};
  const result = { approved_by: decidedByLabel ?? decidedBy, data: answer };
  const decided = calls && { decided_at: decidedAt.toISOString(), calls: calls.results };
  return { step: { ordinal, result: { ...result, ...decided } } };
}

function toRejectionError({ status, reason, decidedBy, decidedByLabel }: Decision): RunError {
  const rejected = `rejected by ${decidedByLabel ?? decidedBy}${reason ? `: ${reason}` : ''}`;
  return { code: 'approval_rejected', message: status === 'expired' ? 'no decision was made in time' : rejected };
}

const toDecisionEvent = ({ id, title }: Approval, { status, decidedByLabel, reason }: Decision) => ({
  type: 'approval' as const,
  data: { id, status, title, decided_by: decidedByLabel, reason },
});

async function enqueueDecisionEvents(tx: Tx, approval: Approval, actor: Actor, decision: Decision): Promise<void> {
  const { id, workspaceId, runId, workerUid, workerId, title, candidateId } = approval;
  const { status, decidedBy, decidedByLabel, reason, calls } = decision;
  await enqueue(tx, approvalDecided, workspaceId, {
    workerUid,
    workerId,
    approvalId: id,
    runId,
    status,
    decidedBy: decidedBy ?? decidedByLabel,
  });
  const details = {
    worker_id: workerId,
    run_id: runId,
    title,
    reason,
    ...(candidateId && { candidate_id: candidateId }),
    ...(calls && { calls: calls.results.map(({ status: decided }) => decided) }),
  };
  await recordChange(tx, actor, `approval.${status}`, { workspaceId, id }, details);
}
