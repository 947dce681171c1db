/**
 * Decides on access to resources with an owner and a visibility: workers and contexts. A `private` resource is visible
 * to its owner and to admins, and does not exist for others; a member who sees a resource may edit it; only the owner
 * and admins may manage it (delete it, hide it).
 */
import { forbidden, type Principal, reaches, reachOf, roleAtLeast } from '@gantry/http';
import type { Visibility } from './generated/prisma/client';

export interface Owned {
  visibility: Visibility;
  /** A user id or the id of a workspace token. */
  ownerId: string | null;
}

export const ownerIdOf = ({ userId, tokenId }: Principal): string | null => userId ?? tokenId;

const isAdmin = ({ role }: Principal): boolean => roleAtLeast(role, 'admin');

export const owns = (principal: Principal, { ownerId }: Owned): boolean =>
  ownerId !== null && ownerId === ownerIdOf(principal);

export function canSee(principal: Principal, thing: Owned): boolean {
  return thing.visibility === 'workspace' || isAdmin(principal) || owns(principal, thing);
}

/** Builds the same rule for queries: an additional condition of `where`. */
export function visibleTo(principal: Principal) {
  if (isAdmin(principal)) return {};
  const ownerId = ownerIdOf(principal);
  return { OR: [{ visibility: 'workspace' as const }, ...(ownerId === null ? [] : [{ ownerId }])] };
}

/** Checks the worker's visibility and, for a restricted token, that the worker is in its scope. */
export const canSeeWorker = (principal: Principal, worker: Owned & { id: string }): boolean =>
  canSee(principal, worker) && reaches(principal, 'workers', worker.id);

/** Builds the same rule for queries of workers. */
export function workersVisibleTo(principal: Principal) {
  const named = reachOf(principal, 'workers');
  return { ...visibleTo(principal), ...(named && { id: { in: named } }) };
}

export function canTakeAway(principal: Principal, thing: Owned): boolean {
  return isAdmin(principal) || (roleAtLeast(principal.role, 'member') && owns(principal, thing));
}

/** @param what `worker`, `context` @throws AppError 403 */
export function requireTakingAway(principal: Principal, thing: Owned, what: string): void {
  if (canTakeAway(principal, thing)) return;
  throw forbidden('not_owner', `only the owner of this ${what} and admins may do that`);
}
