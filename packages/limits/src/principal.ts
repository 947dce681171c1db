import { type Restriction, type Role, roles } from '@gantry/events';

/** The caller, and the one workspace that this request acts in. Created by packages/auth, never from a body or path. */
export interface Principal {
  kind: 'personal_token' | 'workspace_token' | 'session' | 'jwt' | 'api_key';
  /** Null for a workspace token. */
  userId: string | null;
  email: string | null;
  /** True: the caller may see resources that were shared with the address. */
  emailVerified: boolean;
  /** As in the identity: absent unless the address is unverified. */
  holderSince?: number | undefined;
  name: string | null;
  tokenId: string | null;
  workspaceId: string;
  role: Role;
  /** Role by workspace id, of every workspace that this credential may enter. */
  memberships: Record<string, Role>;
  /** Narrows the token below its role; absent for most callers. Enforced by restriction.ts. */
  restriction?: Restriction | undefined;
  /** A model makes the request for this user, as in the chat: its code waits for an approval. Absent: the user does. */
  isAgent?: true;
}

/** Returns whether the request's code requires an approval before it can have effects (ADR 54). */
export const requiresCodeApproval = ({ isAgent, restriction }: Pick<Principal, 'isAgent' | 'restriction'>): boolean =>
  isAgent === true || restriction?.requireApproval === true;

/** Returns whether a person makes the request's decision: a model may hold a token with any restriction. */
export const isUnrestrictedPerson = (caller: Principal): caller is Principal & { userId: string } =>
  caller.userId !== null && caller.isAgent !== true && caller.restriction === undefined;

export function hasRoleAtLeast(role: Role, minimumRole: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(minimumRole);
}
