/**
 * Decides on access to resources with an owner and a visibility: workers and contexts. A `private` resource is visible
 * to its owner and to admins, and does not exist for others; a member who sees a resource may edit it; only the owner
 * and admins may manage it (delete it, hide it).
 */
import { forbidden } from '@gantry/errors';
import { getTokenScope, hasRoleAtLeast, isInTokenScope, type Principal } from '@gantry/limits';
import type { Visibility } from '../generated/prisma/client';

export interface Owned {
  visibility: Visibility;
  /** A user id or the id of a workspace token. */
  ownerId: string | null;
}

export const getOwnerId = ({ userId, tokenId }: Principal): string | null => userId ?? tokenId;

const isAdmin = ({ role }: Principal): boolean => hasRoleAtLeast(role, 'admin');

export const isOwner = (principal: Principal, { ownerId }: Owned): boolean =>
  ownerId !== null && ownerId === getOwnerId(principal);

export function canSee(principal: Principal, thing: Owned): boolean {
  return thing.visibility === 'workspace' || isAdmin(principal) || isOwner(principal, thing);
}

/** Builds the same rule for queries: an additional condition of `where`. */
export function buildVisibilityFilter(principal: Principal) {
  if (isAdmin(principal)) return {};
  const ownerId = getOwnerId(principal);
  return { OR: [{ visibility: 'workspace' as const }, ...(ownerId === null ? [] : [{ ownerId }])] };
}

/** Checks the worker's visibility and, for a restricted token, that the worker is in its scope. */
export const canSeeWorker = (principal: Principal, worker: Owned & { id: string }): boolean =>
  canSee(principal, worker) && isInTokenScope(principal, 'workers', worker.id);

/** Builds the same rule for queries of workers. */
export function buildWorkerVisibilityFilter(principal: Principal) {
  const scopedIds = getTokenScope(principal, 'workers');
  return { ...buildVisibilityFilter(principal), ...(scopedIds && { id: { in: scopedIds } }) };
}

export function canManage(principal: Principal, thing: Owned): boolean {
  return isAdmin(principal) || (hasRoleAtLeast(principal.role, 'member') && isOwner(principal, thing));
}

/** @param what `worker`, `context` @throws AppError 403 */
export function requireManage(principal: Principal, thing: Owned, what: string): void {
  if (canManage(principal, thing)) return;
  throw forbidden('not_owner', `only the owner of this ${what} and admins may do that`);
}
