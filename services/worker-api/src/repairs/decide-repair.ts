/** Applies an approval decision to the candidate of a repair. */

import { notFound } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import type { CandidateDecisions } from '../approvals/candidate-decisions';
import { buildReadySql, findCandidate } from '../candidates/candidate-repository';
import { dropCandidateInTransaction, promoteCandidateInTransaction } from '../candidates/decide-candidate';
import type { RepairDeps } from './repair-deps';
import { updateDecidedRepair } from './repair-repository';

export const createCandidateDecisions = ({ pool, now }: Pick<RepairDeps, 'pool' | 'now'>): CandidateDecisions => ({
  awaitsDecisionSql: buildReadySql,
  settleInTransaction: async (tx, { candidateId, workspaceId, workerId, runId }, decision, { actor, caller }) => {
    const candidate = await findCandidate(pool, candidateId);
    const isApproved = decision.status === 'approved';
    if (!candidate && isApproved) throw notFound('candidate', candidateId);
    if (!candidate) return;
    const { decidedBy: id, decidedByLabel: label } = decision;
    const decider = { id, label, actor, caller };
    if (isApproved) await promoteCandidateInTransaction(tx, candidate, decider, { from: ['ready'], now: now() });
    else await dropCandidateInTransaction(tx, candidate, workerId, decider, now());
    await updateDecidedRepair(tx, candidateId, isApproved ? 'approved' : 'rejected');
    addChangeHint(tx, workspaceId, 'runs', runId);
  },
});
