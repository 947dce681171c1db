/** From rows to what a credential stands for. */
import type { Identity, Role } from '@gantry/events';
import { roleAtLeast } from '@gantry/http';

/** A user as the identity queries return one. */
export interface UserRow {
  user_id: string;
  email: string;
  email_verified_at: Date | null;
  name: string | null;
  default_workspace_id: string | null;
  /** Oldest first; null for none. */
  memberships: { id: string; role: Role }[] | null;
}

export const lowerRole = (one: Role, other: Role): Role => (roleAtLeast(one, other) ? other : one);

/**
 * @param limit the most that the credential may do, in every workspace; null for no limit
 * @param preferred where it acts by default if the user is still a member there, else the user's own default, else the
 *   oldest membership; an empty id for a user without any
 * @param madeAt of a credential that outlives sessions. One from before the address was proven may be in the hands of
 *   somebody who made it then, and does not count as having the address.
 */
export function userIdentity(
  kind: Identity['kind'],
  user: UserRow,
  extras: {
    tokenId: string | null;
    expiresAt: Date | null;
    limit?: Role | null;
    preferred?: string | null;
    madeAt?: Date | null;
  },
): Identity {
  const { limit, madeAt } = extras;
  const provenAt = user.email_verified_at;
  const memberships = Object.fromEntries(
    (user.memberships ?? []).map(({ id, role }) => [id, limit ? lowerRole(role, limit) : role]),
  );
  const candidates = [extras.preferred, user.default_workspace_id, user.memberships?.[0]?.id];
  return {
    kind,
    userId: user.user_id,
    email: user.email,
    emailVerified: provenAt !== null && (!madeAt || madeAt >= provenAt),
    name: user.name,
    tokenId: extras.tokenId,
    defaultWorkspaceId: candidates.find((id) => id && Object.hasOwn(memberships, id)) ?? '',
    memberships,
    expiresAt: extras.expiresAt?.getTime() ?? null,
  };
}
