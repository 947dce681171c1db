import type { Db } from '../database';
import { inheritScope } from '../workers/inherit-scope';
import { isApprovalStillNeeded } from '../workers/version-approval';
import { getVersion } from '../workers/version-repository';
import { type Candidate, toApprovableCode } from './candidate';

/**
 * Loads ids of the only workers that the candidate, and the version that it becomes, may call; null: any.
 * @throws AppError 404 where the worker was deleted
 */
export async function loadCandidateScope(db: Db, candidate: Candidate): Promise<string[] | null> {
  const { workspaceId, workerUid: uid, baseNumber, code } = candidate;
  const base = await getVersion(db, { workspaceId, uid }, baseNumber);
  return inheritScope(base, { code, isUnread: await isApprovalStillNeeded(db, uid, toApprovableCode(candidate)) });
}
