/**
 * The one way out of a pending approval.
 *
 * Approval, run, event and audit entry move in one transaction, which locks the run's row first: so does everything else
 * that touches both, which is why no two of them wait for each other in a circle. Of two who decide at once the second
 * finds it decided, and is told by whom.
 */
import { approvalDecided, enqueue, type RunError } from '@gantry/events';
import { type Actor, conflict } from '@gantry/http';
import { isTerminal, type Run } from '@gantry/run-engine';
import type { PoolClient } from 'pg';
import { recordChange } from '../audit/audit-entry';
import type { Deps } from '../deps';
import type { Approval } from '../generated/prisma/client';
import { type Decision, markDecided } from './approval-repository';

export type SettleDeps = Pick<Deps, 'prisma' | 'pool' | 'engine' | 'now' | 'log'>;

/**
 * In a transaction that holds the run's row. An approved run goes on where it stood; any other decision ends it, unless it
 * has ended without.
 * @param run as it was read before the transaction
 * @returns the run as it is then; null where somebody was faster. @throws AppError 409 where the run does not wait for this
 */
export async function settleIn(
  { engine }: Pick<SettleDeps, 'engine'>,
  tx: PoolClient,
  { approval, run, actor, decision }: { approval: Approval; run: Run; actor: Actor; decision: Decision },
): Promise<Run | null> {
  if (!(await markDecided(tx, approval.id, decision))) return null;
  await announceDecision(tx, approval, actor, decision);
  if (isTerminal(run.status) && decision.status === 'expired') return run;
  await engine.appendEventIn(tx, run.id, eventOf(approval, decision));
  const moved =
    decision.status === 'approved'
      ? await engine.resumeIn(tx, run.id, { from: 'pending_approval', ...resultFor(approval, decision) })
      : await engine.endIn(tx, run, { status: 'rejected', error: whyEnded(decision) });
  if (moved) return moved;
  throw conflict('not_waiting', 'the run does not wait for this approval any more');
}

/** What `context.approve()` returns; a run that was held before its start asked for nothing. */
function resultFor({ stepOrdinal: ordinal }: Approval, { decidedBy, decidedByLabel, answer }: Decision) {
  return ordinal === null
    ? {}
    : { step: { ordinal, result: { approved_by: decidedByLabel ?? decidedBy, data: answer } } };
}

function whyEnded({ status, reason, decidedBy, decidedByLabel }: Decision): RunError {
  const rejected = `rejected by ${decidedByLabel ?? decidedBy}${reason ? `: ${reason}` : ''}`;
  return { code: 'approval_rejected', message: status === 'expired' ? 'nobody decided in time' : rejected };
}

const eventOf = ({ id, title }: Approval, { status, decidedByLabel, reason }: Decision) => ({
  type: 'approval' as const,
  data: { id, status, title, decided_by: decidedByLabel, reason },
});

async function announceDecision(tx: PoolClient, approval: Approval, actor: Actor, decision: Decision): Promise<void> {
  const { id, workspaceId, runId, workerUid, workerId, title } = approval;
  const { status, decidedBy, decidedByLabel, reason } = decision;
  await enqueue(tx, approvalDecided, workspaceId, {
    ...{ workerUid, workerId, approvalId: id, runId, status },
    decidedBy: decidedBy ?? decidedByLabel,
  });
  await recordChange(tx, actor, {
    workspaceId,
    action: `approval.${status}`,
    resource: { type: 'approval', id },
    details: { worker_id: workerId, run_id: runId, title, reason },
  });
}
