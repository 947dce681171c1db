/** Builds the identity behind a credential from database rows. */
import type { Identity, Role } from '@gantry/events';
import { hasRoleAtLeast } from '@gantry/limits';

/** A user as returned by the identity queries. */
export interface UserRow {
  user_id: string;
  email: string;
  email_verified_at: Date | null;
  holder_since: Date;
  name: string | null;
  default_workspace_id: string | null;
  /** Oldest first; null for none. */
  memberships: { id: string; role: Role }[] | null;
}

export const getLowerRole = (one: Role, other: Role): Role => (hasRoleAtLeast(one, other) ? other : one);

/**
 * @param extras.limit the highest role that the credential may use, in every workspace; null for no limit
 * @param extras.preferred default workspace if the user is still a member there, otherwise the user's own default,
 *   otherwise the oldest membership; an empty id for a user without any
 * @param extras.madeAt creation time of a credential that outlives sessions. One that predates the verification may be
 *   held by its creator, and does not count as having the address.
 */
export function buildUserIdentity(
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
  const { email_verified_at: provenAt, holder_since: holderSince } = user;
  const memberships = Object.fromEntries(
    (user.memberships ?? []).map(({ id, role }) => [id, limit ? getLowerRole(role, limit) : role]),
  );
  const candidates = [extras.preferred, user.default_workspace_id, user.memberships?.[0]?.id];
  return {
    kind,
    userId: user.user_id,
    email: user.email,
    emailVerified: provenAt !== null && (!madeAt || madeAt >= provenAt),
    ...(provenAt === null && (!madeAt || madeAt >= holderSince) && { holderSince: holderSince.getTime() }),
    name: user.name,
    tokenId: extras.tokenId,
    defaultWorkspaceId: candidates.find((id) => id && Object.hasOwn(memberships, id)) ?? '',
    memberships,
    expiresAt: extras.expiresAt?.getTime() ?? null,
  };
}
