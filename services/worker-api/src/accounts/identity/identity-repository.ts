/** The lookups behind every request: one indexed query each, directly over the pool because they are hot. */
import type { Role } from '@gantry/events';
import type { Pool } from 'pg';
import { normaliseVerifiedEmail } from '../users/email';
import type { UserRow } from './identity';

/** A replaced cookie stays valid for this long: requests in flight, or whose response was lost, carry it. */
export const REPLACED_COOKIE_SECONDS = 20;

const USER_COLUMNS = `u.id AS user_id, u.email, u.email_verified_at, u.holder_since, u.name, u.default_workspace_id,
  (SELECT json_agg(json_build_object('id', m.workspace_id, 'role', m.role) ORDER BY m.created_at, m.workspace_id)
     FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
     WHERE m.user_id = u.id AND w.deleted_at IS NULL) AS memberships`;

export type TokenRow = {
  id: string;
  hash: Buffer;
  token_name: string;
  workspace_id: string | null;
  acts_in: string | null;
  made_at: Date;
  role: Role | null;
  pepper_version: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  /** Not parsed yet; null: none. */
  restriction: unknown;
} & (UserRow | { [column in keyof UserRow]: null });

/** Null for a token that is unknown, revoked, expired, or whose user is disabled or workspace deleted. */
export async function findToken(pool: Pool, hashes: Buffer[]): Promise<TokenRow | null> {
  const { rows } = await pool.query<TokenRow>(
    `SELECT t.id, t.hash, t.name AS token_name, t.workspace_id, t.default_workspace_id AS acts_in, t.role,
       t.created_at AS made_at, t.expires_at, t.last_used_at, t.pepper_version, t.restriction, ${USER_COLUMNS}
     FROM tokens t LEFT JOIN users u ON u.id = t.user_id LEFT JOIN workspaces own ON own.id = t.workspace_id
     WHERE t.hash = ANY($1) AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
       AND u.disabled_at IS NULL AND own.deleted_at IS NULL`,
    [hashes],
  );
  return rows[0] ?? null;
}

/** Rehashes the token under the current pepper. */
export async function rehashToken(
  pool: Pool,
  tokenId: string,
  { hash, pepperVersion }: { hash: Buffer; pepperVersion: string },
): Promise<void> {
  await pool.query('UPDATE tokens SET hash = $2, pepper_version = $3 WHERE id = $1', [tokenId, hash, pepperVersion]);
}

export interface SessionRow extends UserRow {
  session_id: string;
  hash: Buffer;
  expires_at: Date;
}

/** Null for an unknown or replaced cookie, and for an ended session. */
export async function findSession(pool: Pool, hashes: Buffer[]): Promise<SessionRow | null> {
  const { rows } = await pool.query<SessionRow>(
    `SELECT s.id AS session_id, c.hash, s.expires_at, ${USER_COLUMNS}
     FROM session_cookies c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
     WHERE c.hash = ANY($1) AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL
       AND (c.replaced_at IS NULL OR c.replaced_at > now() - make_interval(secs => $2))`,
    [hashes, REPLACED_COOKIE_SECONDS],
  );
  return rows[0] ?? null;
}

/**
 * @param issuedAt creation time of a user's key kept by another service: null is returned if keys of that age are refused
 */
export async function findActiveUser(pool: Pool, userId: string, issuedAt: Date | null): Promise<UserRow | null> {
  const { rows } = await pool.query<UserRow>(
    `SELECT ${USER_COLUMNS} FROM users u WHERE u.id = $1 AND u.disabled_at IS NULL
       AND ($2::timestamptz IS NULL OR u.keys_valid_from IS NULL OR u.keys_valid_from <= $2)`,
    [userId, issuedAt],
  );
  return rows[0] ?? null;
}

/** Null also if the session has ended, or is another user's. */
export async function findUserInSession(pool: Pool, userId: string, sessionId: string): Promise<UserRow | null> {
  const { rows } = await pool.query<UserRow>(
    `SELECT ${USER_COLUMNS} FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = $2 AND s.user_id = $1 AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
    [userId, sessionId],
  );
  return rows[0] ?? null;
}

export interface ExternalIdentityQuery {
  issuer: string;
  subject: string;
  email: string | null;
}

/**
 * The user who signed in with that external identity before, otherwise the one whose verified address the issuer
 * confirms.
 */
export async function findExternalUser(pool: Pool, query: ExternalIdentityQuery): Promise<UserRow | null> {
  const { issuer, subject, email } = query;
  const { rows } = await pool.query<UserRow>(
    `SELECT ${USER_COLUMNS} FROM users u
     WHERE u.id = coalesce(
         (SELECT user_id FROM external_identities WHERE issuer = $1 AND subject = $2),
         (SELECT id FROM users WHERE email = $3 AND email_verified_at IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM external_identities WHERE issuer = $1 AND user_id = users.id)))
       AND u.disabled_at IS NULL`,
    [issuer, subject, email && normaliseVerifiedEmail(email)],
  );
  return rows[0] ?? null;
}

export interface GrantRow extends UserRow {
  grant_id: string;
  workspace_id: string;
  made_at: Date;
  expires_at: Date;
  restriction: unknown;
}

const GRANT_COLUMNS = `g.id AS grant_id, g.workspace_id, g.created_at AS made_at, g.restriction, ${USER_COLUMNS}`;

/** Finds the grant of an access token. Null also for one that was issued for another resource. */
export async function findGrantByToken(pool: Pool, hashes: Buffer[], resource: string): Promise<GrantRow | null> {
  const { rows } = await pool.query<GrantRow>(
    `SELECT ${GRANT_COLUMNS}, least(t.expires_at, g.expires_at) AS expires_at
     FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id JOIN users u ON u.id = g.user_id
     WHERE t.hash = ANY($1) AND t.kind = 'access' AND t.expires_at > now() AND g.expires_at > now()
       AND g.resource = $2 AND u.disabled_at IS NULL`,
    [hashes, resource],
  );
  return rows[0] ?? null;
}

/** Finds a grant by its id, for a JWT that represents it. */
export async function findGrant(pool: Pool, grantId: string, userId: string): Promise<GrantRow | null> {
  const { rows } = await pool.query<GrantRow>(
    `SELECT ${GRANT_COLUMNS}, g.expires_at FROM oauth_grants g JOIN users u ON u.id = g.user_id
     WHERE g.id = $1 AND g.user_id = $2 AND g.expires_at > now() AND u.disabled_at IS NULL`,
    [grantId, userId],
  );
  return rows[0] ?? null;
}
