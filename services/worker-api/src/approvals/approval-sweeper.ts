/**
 * Ends undecided approvals: expired ones, and those whose run has ended without them. Their candidates are dropped.
 *
 * Any number of replicas may sweep: each skips runs locked by others, and an approval is ended once.
 */

import { SYSTEM } from '@gantry/http';
import { pollForWork, transaction } from '@gantry/postgres';
import { tryLockRun } from '@gantry/run-engine';
import { buildStaleApprovalsDueAtSql, getApprovalById, listStalePendingApprovals } from './approval-repository';
import { isCandidateApproval } from './candidate-decisions';
import { type SettleDeps, settleApprovalInTransaction, settleCandidate } from './settle-approval';

const BATCH_SIZE = 100;
const EXPIRED_DECISION = { status: 'expired' as const, decidedBy: null, decidedByLabel: null, answer: null };

/** @param options.auto false: only explicit calls of `tick()` do anything */
export function startApprovalSweeper(deps: SettleDeps, options: { auto: boolean }) {
  const { pool, log, now } = deps;
  let stopped = false;

  async function tick(): Promise<number> {
    let ended = 0;
    /** Locked by another replica, or failed: the others must not wait. */
    const skippedIds: string[] = [];
    for (;;) {
      const ids = await listStalePendingApprovals(pool, deps.candidateDecisions, {
        now: now(),
        excludedIds: skippedIds,
        limit: BATCH_SIZE,
      });
      for (const id of ids) {
        const done = await expireApproval(deps, id).catch((err) => {
          log.error({ err, approvalId: id }, 'could not end an approval; will try again');
          return false;
        });
        if (done) ended++;
        else skippedIds.push(id);
      }
      if (ids.length < BATCH_SIZE || stopped) return ended;
    }
  }

  const dueAt = buildStaleApprovalsDueAtSql(deps.candidateDecisions);
  const ticking = options.auto ? pollForWork({ pool, dueAt, work: tick, what: 'approvals', log }) : null;
  return {
    /** Ends all that are over now. @returns how many */
    tick,
    stop: async () => {
      stopped = true;
      await ticking?.stop();
    },
  };
}

async function expireApproval(deps: SettleDeps, id: string): Promise<boolean> {
  const approval = await getApprovalById(deps.prisma, id);
  if (isCandidateApproval(approval)) {
    const isExpired = approval.expiresAt <= deps.now();
    const reason = isExpired ? 'no decision was made in time' : 'the candidate is no longer waiting for a decision';
    const decision = { ...EXPIRED_DECISION, decidedAt: deps.now(), reason };
    await settleCandidate(deps, { approval, actor: SYSTEM, decision, caller: null });
    return true;
  }
  const run = await deps.engine.get(approval.workspaceId, approval.runId);
  const decision = {
    ...EXPIRED_DECISION,
    decidedAt: deps.now(),
    reason:
      run.status === 'pending_approval'
        ? 'no decision was made in time'
        : `the run was no longer waiting: its status was ${run.status}`,
  };
  const moved = await transaction(deps.pool, async (tx) => {
    if (!(await tryLockRun(tx, run.id))) return null;
    return settleApprovalInTransaction(deps, tx, { approval, run, actor: SYSTEM, decision });
  });
  return moved !== null;
}
