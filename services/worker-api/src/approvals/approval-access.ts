/**
 * Checks the permission to decide: members who can see the worker have it, except the person who started the run if
 * the worker forbids that.
 */

import { forbidden } from '@gantry/errors';
import { createPermissionTable } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import type { Approval } from '../generated/prisma/client';
import { type ApprovalWithWorker, approvalToApi, listPrincipalIds } from './approval';
import type { ApprovalDeps } from './approval-deps';
import { buildReviewUrl } from './review-link';
import { findSelfApprovingStarters } from './self-approval';

const permissionsFor = createPermissionTable(openapiFiles.worker, { approve: 'approve' });

type AccessDeps = Pick<ApprovalDeps, 'pool' | 'hasher' | 'dashboardUrl'>;

/** @throws AppError 403 */
export async function assertCanDecide({ pool }: AccessDeps, caller: Principal, approval: Approval): Promise<void> {
  if (!canChangeWorker(caller, approval)) {
    throw forbidden('restricted', 'this approval would change the worker, but this restricted token cannot change it');
  }
  if ((await findSelfApprovals(pool, caller, [approval])).size === 0) return;
  throw forbidden(
    'self_approval',
    'you started this run or requested its repair, and the worker requires another person to decide',
  );
}

/** Requires for promoting a version what changing the worker requires. */
function canChangeWorker({ restriction }: Principal, { candidateId }: Approval): boolean {
  if (candidateId === null || !restriction) return true;
  const { toolsets, workers, automations } = restriction;
  return (toolsets?.includes('workers') ?? true) && workers === undefined && automations === undefined;
}

/** Maps approvals to their API representation; the link is shown only to callers who may decide anyway. */
export async function approvalsToApi(deps: AccessDeps, caller: Principal, approvals: ApprovalWithWorker[]) {
  const own = await findSelfApprovals(deps.pool, caller, approvals);
  return approvals.map((approval) => {
    const isPermitted = permissionsFor(caller.role, caller.restriction).approve && canChangeWorker(caller, approval);
    const canDecide = isPermitted && !own.has(approval.id);
    // The link needs no credential, so its holder would escape the restriction of a token that has read it.
    const isOpen = canDecide && !caller.restriction && approval.status === 'pending';
    return approvalToApi(approval, {
      canDecide,
      reviewUrl: isOpen ? buildReviewUrl(deps.hasher, deps.dashboardUrl, approval) : null,
    });
  });
}

/** Returns ids of the approvals that this caller may not decide because they started the run. */
async function findSelfApprovals(
  pool: ApprovalDeps['pool'],
  caller: Principal,
  approvals: Approval[],
): Promise<Set<string>> {
  const guarded = approvals.filter(({ forbidSelf, requestedBy }) => forbidSelf && requestedBy !== null);
  const starters = guarded.map(({ requestedBy }) => String(requestedBy));
  const same = await findSelfApprovingStarters(pool, listPrincipalIds(caller), starters);
  return new Set(guarded.filter(({ requestedBy }) => same.has(String(requestedBy))).map(({ id }) => id));
}
