/**
 * The reply to a claim: the job, sealed as a whole to the executor that claimed it, or nothing.
 *
 * The associated data names the claim, so a reply is valid for that claim and for no later one.
 */
import { type ClaimRequest, type Job, job } from './run-protocol';
import type { OpenBox, Seal } from './sealed-box';

export type Claimant = ClaimRequest & { executorId: string };
type ClaimIdentity = Pick<Claimant, 'executorId' | 'claimId'>;

export const NOTHING_TO_DO = new Uint8Array(0);

const contextOf = ({ executorId, claimId }: ClaimIdentity): string => `job/${executorId}/${claimId}`;

export const sealJob = (seal: Seal, claimant: Claimant, given: Job): Buffer =>
  seal(claimant.publicKey, contextOf(claimant), Buffer.from(JSON.stringify(given)));

/** @throws Error for a reply that was not sealed for this claim, or is not a job */
export function openJob(open: OpenBox, claim: ClaimIdentity, answer: Uint8Array): Job | null {
  return answer.length ? job.parse(JSON.parse(open(contextOf(claim), answer).toString())) : null;
}
