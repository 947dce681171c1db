/** The lookups behind every request: one indexed query each, over the pool because they are hot. */
import type { Role } from '@gantry/events';
import type { Pool } from 'pg';
import type { UserRow } from './identity';

const USER_COLUMNS = `u.id AS user_id, u.email, u.name, u.default_workspace_id,
  (SELECT json_agg(json_build_object('id', m.workspace_id, 'role', m.role) ORDER BY m.created_at, m.workspace_id)
     FROM memberships m WHERE m.user_id = u.id) AS memberships`;

export type TokenRow = {
  id: string;
  hash: Buffer;
  token_name: string;
  workspace_id: string | null;
  acts_in: string | null;
  role: Role | null;
  expires_at: Date | null;
  last_used_at: Date | null;
} & (UserRow | { [column in keyof UserRow]: null });

/** Null for a token that is unknown, revoked, expired, or whose user is disabled. */
export async function findToken(pool: Pool, hashes: Buffer[]): Promise<TokenRow | null> {
  const { rows } = await pool.query<TokenRow>(
    `SELECT t.id, t.hash, t.name AS token_name, t.workspace_id, t.default_workspace_id AS acts_in, t.role, t.expires_at,
       t.last_used_at, ${USER_COLUMNS}
     FROM tokens t LEFT JOIN users u ON u.id = t.user_id
     WHERE t.hash = ANY($1) AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
       AND u.disabled_at IS NULL`,
    [hashes],
  );
  return rows[0] ?? null;
}

export interface SessionRow extends UserRow {
  session_id: string;
  hash: Buffer;
  expires_at: Date;
}

/** Requests that were under way while another tab refreshed still carry the cookie of before. */
const REPLACED_COOKIE_SECONDS = 20;

/** Null for a cookie that is unknown or was replaced, and for a session that ended. */
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

export async function findActiveUser(pool: Pool, userId: string): Promise<UserRow | null> {
  const { rows } = await pool.query<UserRow>(
    `SELECT ${USER_COLUMNS} FROM users u WHERE u.id = $1 AND u.disabled_at IS NULL`,
    [userId],
  );
  return rows[0] ?? null;
}
