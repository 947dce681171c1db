import { type Restriction, type Role, roles } from '@gantry/events';

/** The caller, and the one workspace that this request acts in. Made by packages/auth, never from a body or path. */
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
  /** Narrows the token below its role; absent for nearly everybody. Enforced by restriction.ts. */
  restriction?: Restriction | undefined;
  /** A model makes the request for this person, as the chat does: what it brings waits for a person. Absent: the person does. */
  isAgent?: true;
}

/** Whether code that comes with the request has to be approved before it reaches anything (ADR 54). */
export const bringsUnapprovedCode = ({ isAgent, restriction }: Pick<Principal, 'isAgent' | 'restriction'>): boolean =>
  isAgent === true || restriction?.requireApproval === true;

/** Whether a decision that comes with the request is that of a person. */
export const isPerson = (principal: Pick<Principal, 'userId' | 'isAgent' | 'restriction'>): boolean =>
  principal.userId !== null && !bringsUnapprovedCode(principal);

export function roleAtLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
