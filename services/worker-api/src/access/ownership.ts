/**
 * Decides on access to resources with an owner and a visibility: workers and contexts. A `private` resource is visible
 * to its owner and to admins, and does not exist for others; a member who sees a resource may edit it; only the owner
 * and admins may manage it (delete it, hide it).
 */
import { forbidden } from '@gantry/errors';
import { getTokenScope, hasRoleAtLeast, isInTokenScope, type Principal } from '@gantry/limits';
import type { Visibility } from '../generated/prisma/client';

export interface OwnedResource {
  visibility: Visibility;
  /** A user id or the id of a workspace token. */
  ownerId: string | null;
}

export const findOwnerId = ({ userId, tokenId }: Principal): string | null => userId ?? tokenId;

const isAdmin = ({ role }: Principal): boolean => hasRoleAtLeast(role, 'admin');

export const isOwner = (principal: Principal, { ownerId }: OwnedResource): boolean =>
  ownerId !== null && ownerId === findOwnerId(principal);

export function canSee(principal: Principal, resource: OwnedResource): boolean {
  return resource.visibility === 'workspace' || isAdmin(principal) || isOwner(principal, resource);
}

/** Builds the same rule for queries: an additional condition of `where`. */
export function buildVisibilityFilter(principal: Principal) {
  if (isAdmin(principal)) return {};
  const ownerId = findOwnerId(principal);
  return { OR: [{ visibility: 'workspace' as const }, ...(ownerId === null ? [] : [{ ownerId }])] };
}

/** Checks the worker's visibility and, for a restricted token, that the worker is in its scope. */
export const canSeeWorker = (principal: Principal, worker: OwnedResource & { id: string }): boolean =>
  canSee(principal, worker) && isInTokenScope(principal, 'workers', worker.id);

/** Builds the same rule for queries of workers. */
export function buildWorkerVisibilityFilter(principal: Principal) {
  const scopedIds = getTokenScope(principal, 'workers');
  return { ...buildVisibilityFilter(principal), ...(scopedIds && { id: { in: scopedIds } }) };
}

export function canManage(principal: Principal, resource: OwnedResource): boolean {
  return isAdmin(principal) || (hasRoleAtLeast(principal.role, 'member') && isOwner(principal, resource));
}

/** @param resourceName `worker`, `context` @throws AppError 403 */
export function assertCanManage(principal: Principal, resource: OwnedResource, resourceName: string): void {
  if (canManage(principal, resource)) return;
  throw forbidden('not_owner', `only admins and the owner of this ${resourceName} can do that`);
}
