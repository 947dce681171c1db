import { enqueue, tokenRevoked } from '@gantry/events';
import { deleteOldRows, type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Db } from '../../database';
import type { Session } from '../../generated/prisma/client';
import { REPLACED_COOKIE_SECONDS } from '../identity/identity-repository';

/** A session ends this long after its last refresh, and at the latest after SESSION_DAYS_MAX. */
export const SESSION_IDLE_DAYS = 30;
const SESSION_DAYS_MAX = 180;

export async function insertSession(
  tx: Db,
  { cookieHash, ...columns }: Pick<Session, 'id' | 'userId' | 'address' | 'userAgent'> & { cookieHash: Buffer },
): Promise<void> {
  await tx.session.create({
    data: {
      ...columns,
      expiresAt: new Date(Date.now() + SESSION_IDLE_DAYS * 86_400_000),
      cookies: { create: { hash: new Uint8Array(cookieHash) } },
    },
  });
}

/**
 * Replaces the cookie with `newHash` and returns the session. The immediately preceding cookie is still accepted for
 * REPLACED_COOKIE_SECONDS, for a page that was left while the response with the new one was in flight: the session then
 * has two successors, and the first one used replaces the other. Any other replaced cookie is a copy in unknown
 * hands: the whole session ends, and `endedId` names it.
 */
export function rotateSessionCookie(
  pool: Pool,
  hashes: Buffer[],
  newHash: Buffer,
): Promise<{ userId: string; sessionId: string } | { endedId: string | null }> {
  return transaction(pool, async (tx) => {
    // Refreshes of one session are serialised by this lock. Only the next statement sees the first one's changes to
    // the cookies.
    const { rows: alive } = await tx.query(
      `SELECT s.id, s.user_id
       FROM session_cookies c JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id
       WHERE c.hash = ANY($1) AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL
       FOR UPDATE OF s`,
      [hashes],
    );
    const { rows: accepted } = await tx.query(
      `SELECT c.replaced_at IS NULL AS is_current FROM session_cookies c
       WHERE c.hash = ANY($1) AND (c.replaced_at IS NULL OR (
         c.replaced_at > now() - make_interval(secs => $2)
         AND c.replaced_at = (SELECT max(o.replaced_at) FROM session_cookies o WHERE o.session_id = c.session_id)))`,
      [hashes, REPLACED_COOKIE_SECONDS],
    );
    const [session] = alive;
    const [cookie] = accepted;
    if (!session || !cookie) {
      return { endedId: await revokeSessionWhere(tx, hashes, 'c.replaced_at IS NOT NULL') };
    }
    if (cookie.is_current) {
      await tx.query('UPDATE session_cookies SET replaced_at = now() WHERE session_id = $1 AND replaced_at IS NULL', [
        session.id,
      ]);
    }
    await tx.query('INSERT INTO session_cookies (hash, session_id) VALUES ($1, $2)', [newHash, session.id]);
    await tx.query(
      `UPDATE sessions SET expires_at = least(now() + make_interval(days => $2), created_at + make_interval(days => $3))
       WHERE id = $1`,
      [session.id, SESSION_IDLE_DAYS, SESSION_DAYS_MAX],
    );
    return { userId: session.user_id, sessionId: session.id };
  });
}

/** Ends the session that the cookie belongs to. Returns its id, or null if none is active. */
export function revokeSessionByCookie(pool: Pool, hashes: Buffer[]): Promise<string | null> {
  return transaction(pool, (tx) => revokeSessionWhere(tx, hashes, 'true'));
}

async function revokeSessionWhere(tx: Sql, hashes: Buffer[], condition: string): Promise<string | null> {
  const { rows } = await tx.query(
    `UPDATE sessions s SET revoked_at = now() FROM session_cookies c, users u
     WHERE c.hash = ANY($1) AND c.session_id = s.id AND u.id = s.user_id AND s.revoked_at IS NULL AND ${condition}
     RETURNING s.id, coalesce(u.default_workspace_id, '') AS workspace_id`,
    [hashes],
  );
  const [ended] = rows;
  if (!ended) return null;
  // Cached identities of a session are keyed by its id, like those of a token.
  await enqueue(tx, tokenRevoked, ended.workspace_id, { tokenId: ended.id });
  return ended.id;
}

/** Newest first; active ones only. */
export function listSessions(db: Db, userId: string): Promise<Session[]> {
  return db.session.findMany({
    where: { userId, revokedAt: null, expiresAt: { gt: new Date() } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
}

/**
 * Ends every session of the user, and announces it. Returns their ids. Unfinished operations of a session end
 * with it: an approved device that has not fetched its token, and links that verify an address.
 * @param exceptSessionId a session that stays active
 */
export async function revokeUserSessions(tx: Db, userId: string, exceptSessionId?: string): Promise<string[]> {
  const ended = await tx.session.updateManyAndReturn({
    where: { userId, revokedAt: null, ...(exceptSessionId !== undefined && { id: { not: exceptSessionId } }) },
    data: { revokedAt: new Date() },
    select: { id: true },
  });
  for (const { id } of ended) await enqueue(tx, tokenRevoked, '', { tokenId: id });
  await tx.deviceRequest.updateMany({ where: { decidedBy: userId, spentAt: null }, data: { spentAt: new Date() } });
  await tx.emailVerification.deleteMany({ where: { userId, usedAt: null } });
  return ended.map(({ id }) => id);
}

/** False if the user has no such session. */
export async function revokeSessionById(tx: Db, userId: string, sessionId: string): Promise<boolean> {
  const { count } = await tx.session.updateMany({
    where: { id: sessionId, userId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  if (count) await enqueue(tx, tokenRevoked, '', { tokenId: sessionId });
  return count > 0;
}

export const sweepSessions = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'sessions', "least(expires_at, revoked_at) < now() - interval '7 days'");
