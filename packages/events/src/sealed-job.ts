/**
 * The reply to a claim: the job, sealed as a whole to the executor that claimed it, or nothing.
 *
 * The associated data names the claim, so a reply is valid for that claim and for no later one.
 */
import { type ClaimRequest, type Job, job } from './run-protocol';
import type { OpenBox, Seal } from './sealed-box';

export type Claimant = ClaimRequest & { executorId: string };
type ClaimIdentity = Pick<Claimant, 'executorId' | 'claimId'>;

export const EMPTY_REPLY = new Uint8Array(0);

const buildSealContext = ({ executorId, claimId }: ClaimIdentity): string => `job/${executorId}/${claimId}`;

export const sealJob = (seal: Seal, claimant: Claimant, claimedJob: Job): Buffer =>
  seal(claimant.publicKey, buildSealContext(claimant), Buffer.from(JSON.stringify(claimedJob)));

/** @throws Error for a reply that was not sealed for this claim, or is not a job */
export function openJob(open: OpenBox, claim: ClaimIdentity, reply: Uint8Array): Job | null {
  return reply.length ? job.parse(JSON.parse(open(buildSealContext(claim), reply).toString())) : null;
}
