/** Resolves a request to its caller and to the one workspace that it acts in. */

import { forbidden } from '@gantry/errors';
import type { Identity, WorkspaceClosures } from '@gantry/events';
import type { AccessRule, Principal } from '@gantry/limits';
import type { Request } from 'express';
import { badCredentialError, getSingleHeader, parseCredential } from './credential';
import type { Identify } from './identity-cache';
import type { OpaquePrefix } from './opaque-token';
import { requireSameOrigin, toOrigins } from './same-origin';

export interface AuthenticatorOptions {
  identify: Identify;
  /** The three public addresses: their pages may use the session cookie. */
  publicUrls: string[];
  /** Closures known to this service: a cached identity may be older. */
  closures: Pick<WorkspaceClosures, 'has'>;
  /** Prefixes of the tokens that this request may have; default: those of the account. */
  tokenPrefixes?: readonly OpaquePrefix[] | ((req: Request) => readonly OpaquePrefix[]);
}

/** Null without a credential. @throws AppError 400, 401, 403, or 503 if identities cannot be resolved */
export type Authenticate = (req: Request) => Promise<Principal | null>;

export function createAuthenticator({
  identify,
  publicUrls,
  closures,
  tokenPrefixes,
}: AuthenticatorOptions): Authenticate {
  const origins = toOrigins(publicUrls);
  return async (req) => {
    const credential = parseCredential(req, typeof tokenPrefixes === 'function' ? tokenPrefixes(req) : tokenPrefixes);
    if (!credential) return null;
    if (credential.kind === 'session') requireSameOrigin(req, origins, 'refuse');
    const identity = await identify(credential);
    // The identity may come from the cache; a token's expiry is exact all the same.
    if (!identity || (identity.expiresAt !== null && identity.expiresAt <= Date.now())) {
      throw badCredentialError('the credential is unknown, revoked or expired; sign in again or use another token');
    }
    return toPrincipal(req, { ...identity, memberships: removeClosedWorkspaces(identity.memberships, closures) });
  };
}

function removeClosedWorkspaces(memberships: Identity['memberships'], closures: Pick<WorkspaceClosures, 'has'>) {
  if (!Object.keys(memberships).some((workspaceId) => closures.has(workspaceId))) return memberships;
  return Object.fromEntries(Object.entries(memberships).filter(([workspaceId]) => !closures.has(workspaceId)));
}

/** The surface has looked up the operation before. */
type OperationRequest = Request & { operation?: { access: AccessRule } };

function toPrincipal(req: OperationRequest, identity: Identity): Principal {
  const { kind, userId, email, emailVerified, holderSince, name, tokenId, memberships, restriction } = identity;
  const caller = {
    kind,
    userId,
    email,
    emailVerified,
    holderSince,
    name,
    tokenId,
    memberships,
    ...(restriction && { restriction }),
    // Any client may send it: it only takes away.
    ...(req.get('x-svc-agent') !== undefined && { isAgent: true as const }),
  };
  const requestedWorkspaceId = getSingleHeader(req, 'x-svc-workspace');
  const workspaceId = requestedWorkspaceId ?? identity.defaultWorkspaceId;
  const role = Object.hasOwn(memberships, workspaceId) ? memberships[workspaceId] : undefined;
  if (!role && requestedWorkspaceId === undefined && req.operation?.access === 'account') {
    // A user without memberships may still create a workspace or accept an invitation. No row has this workspace id.
    return { ...caller, workspaceId: `user:${userId}`, role: 'viewer' };
  }
  if (!role) {
    throw forbidden(
      'not_a_member',
      requestedWorkspaceId === undefined
        ? 'this account is not a member of any workspace; ask for an invitation'
        : 'x-svc-workspace: you are not a member of that workspace, or this token does not cover it',
    );
  }
  return { ...caller, workspaceId, role };
}
