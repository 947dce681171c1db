/** Applies an approval decision to the candidate of a repair. */
import { hintChange } from '@gantry/events';
import { notFound } from '@gantry/http';
import type { CandidateDecisions } from '../approvals/candidate-decisions';
import { findCandidate, isReadySql } from '../candidates/candidate-repository';
import { dropIn, promoteIn } from '../candidates/decide-candidate';
import type { RepairDeps } from './repair-deps';
import { decideRepair } from './repair-repository';

export const candidateDecisions = ({ pool, now }: Pick<RepairDeps, 'pool' | 'now'>): CandidateDecisions => ({
  awaitsDecisionSql: isReadySql,
  settleIn: async (tx, { candidateId, workspaceId, workerId, runId }, decision, { actor, isPerson }) => {
    const candidate = await findCandidate(pool, candidateId);
    const isApproved = decision.status === 'approved';
    if (!candidate && isApproved) throw notFound('candidate', candidateId);
    if (!candidate) return;
    const { decidedBy: id, decidedByLabel: label } = decision;
    const decider = { id, label, actor, isPerson };
    if (isApproved) await promoteIn(tx, candidate, decider, { from: ['ready'], now: now() });
    else await dropIn(tx, candidate, workerId, decider, now());
    await decideRepair(tx, candidateId, isApproved ? 'approved' : 'rejected');
    hintChange(tx, workspaceId, 'runs', runId);
  },
});
