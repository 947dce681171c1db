import { type Restriction, type Role, roles } from '@gantry/events';

/** The caller, and the one workspace that this request acts in. Made by packages/auth, never from a body or path. */
export interface Principal {
  kind: 'personal_token' | 'workspace_token' | 'session' | 'jwt' | 'api_key';
  /** Null for a workspace token. */
  userId: string | null;
  email: string | null;
  /** True: the caller may see resources that were shared with the address. */
  emailVerified: boolean;
  name: string | null;
  tokenId: string | null;
  workspaceId: string;
  role: Role;
  /** Role by workspace id, of every workspace that this credential may enter. */
  memberships: Record<string, Role>;
  /** Narrows the token below its role; absent for nearly everybody. Enforced by restriction.ts. */
  restriction?: Restriction | undefined;
}

export function roleAtLeast(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}
