/** The callers of this surface: readers and writers. */

import { forbidden } from '@gantry/errors';
import { getCaller } from '@gantry/http';
import { createCreationMarker, type MarkCreated, type Principal } from '@gantry/limits';
import type { Request } from 'express';
import { type Audit, createAudit } from '../audit/audit';

/** Any caller; nulls for one who is not signed in. An owner is a user in a workspace, never a user alone. */
export interface Reader {
  userId: string | null;
  workspaceId: string | null;
  /** Lower case; null unless the address is verified. */
  email: string | null;
  /** Null if the address is verified. An unverified address counts where the reader is a member. */
  member: { holderSince: Date; workspaceIds: string[] } | null;
}

/** A user who can own, save and subscribe. */
export interface Person extends Reader {
  userId: string;
  workspaceId: string;
  name: string | null;
}

/** The person behind a request, whose changes are audited. */
export interface Actor extends Person {
  audit: Audit;
  /** Records what was created for the Idempotency-Key of the request. */
  made: MarkCreated;
}

export const toReader = ({ principal }: Request): Reader => ({
  userId: principal?.userId ?? null,
  workspaceId: principal?.workspaceId ?? null,
  email: getVerifiedEmail(principal),
  member: toMember(principal),
});

const getVerifiedEmail = (principal: Principal | undefined): string | null =>
  principal?.emailVerified ? (principal.email?.toLowerCase() ?? null) : null;

const toMember = (principal: Principal | undefined): Reader['member'] =>
  principal?.holderSince === undefined
    ? null
    : { holderSince: new Date(principal.holderSince), workspaceIds: Object.keys(principal.memberships) };

/** @throws AppError 403 for a workspace token, which has no user */
export function getPerson(req: Request): Actor {
  const caller = getCaller(req);
  const { userId, workspaceId, name } = caller;
  if (userId) {
    const { email, member } = toReader(req);
    return { userId, workspaceId, email, member, name, audit: createAudit(req), made: createCreationMarker(req) };
  }
  throw forbidden('needs_user', 'skills belong to people: a workspace token can only read them');
}

/** @throws AppError 403 for an API key of this surface */
export function assertNotApiKey(req: Request): void {
  if (getCaller(req).kind !== 'api_key') return;
  throw forbidden('session_required', 'API keys can’t be used for this; sign in, or send an account token');
}

/** Returns a person with a session or a token of the account. @throws AppError 403 */
export function getSignedInPerson(req: Request): Actor {
  assertNotApiKey(req);
  return getPerson(req);
}

/**
 * Returns a person with a session, for operations on credentials: a key created by a token would exceed the rights of
 * the token and outlive it. @throws AppError 403
 */
export function getSessionPerson(req: Request): Actor {
  const { kind } = getCaller(req);
  if (kind === 'session' || kind === 'jwt') return getPerson(req);
  throw forbidden('session_required', 'API keys can be managed only by a signed-in person; sign in first');
}
