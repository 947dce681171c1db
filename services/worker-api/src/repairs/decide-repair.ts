/** Applies an approval decision to the candidate of a repair. */

import { notFound } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import type { CandidateDecisions } from '../approvals/candidate-decisions';
import { findCandidate, isReadySql } from '../candidates/candidate-repository';
import { dropInTransaction, promoteInTransaction } from '../candidates/decide-candidate';
import type { RepairDeps } from './repair-deps';
import { updateDecidedRepair } from './repair-repository';

export const createCandidateDecisions = ({ pool, now }: Pick<RepairDeps, 'pool' | 'now'>): CandidateDecisions => ({
  awaitsDecisionSql: isReadySql,
  settleInTransaction: async (tx, { candidateId, workspaceId, workerId, runId }, decision, { actor, caller }) => {
    const candidate = await findCandidate(pool, candidateId);
    const isApproved = decision.status === 'approved';
    if (!candidate && isApproved) throw notFound('candidate', candidateId);
    if (!candidate) return;
    const { decidedBy: id, decidedByLabel: label } = decision;
    const decider = { id, label, actor, caller };
    if (isApproved) await promoteInTransaction(tx, candidate, decider, { from: ['ready'], now: now() });
    else await dropInTransaction(tx, candidate, workerId, decider, now());
    await updateDecidedRepair(tx, candidateId, isApproved ? 'approved' : 'rejected');
    addChangeHint(tx, workspaceId, 'runs', runId);
  },
});
