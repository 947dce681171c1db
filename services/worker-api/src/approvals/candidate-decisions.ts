/**
 * Declares the effect of a decision about a candidate. The wing of candidates imports that of approvals, so it is
 * passed in as a dependency.
 */
import type { Actor } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { Approval, Prisma } from '../generated/prisma/client';
import type { Decision } from './approval-repository';

export type CandidateApproval = Approval & { candidateId: string };

export const isCandidateApproval = (approval: Approval): approval is CandidateApproval => approval.candidateId !== null;

export interface CandidateDecisions {
  /** Condition in SQL: the candidate waits for a decision. */
  awaitsDecisionSql: (candidateId: string) => string;
  /**
   * Promotes it where the decision is `approved`, and drops it otherwise, in the transaction that then marks the
   * approval.
   * @throws AppError 409 `worker_changed`, `archived`, `already_decided`; 403 where it may no longer expose values, or where a
   * restricted token would approve its code
   */
  settleInTransaction(
    tx: Prisma.TransactionClient,
    approval: CandidateApproval,
    decision: Decision,
    decider: { actor: Actor; caller: Principal | null },
  ): Promise<void>;
}
