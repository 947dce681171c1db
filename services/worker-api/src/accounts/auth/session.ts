/** Browser sessions: a cookie that is replaced at each refresh, and a one-hour JWT. */
import { createOpaqueToken, type TokenHasher } from '@gantry/auth';
import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import type { Pool } from 'pg';
import type { Db } from '../../database';
import type { Session } from '../../generated/prisma/client';
import { insertSession, revokeSessionByCookie, revokeUserSessions, rotateSessionCookie } from './session-repository';

/** Client details for the list of sessions. */
export type ClientInfo = Pick<Session, 'address' | 'userAgent'>;

export interface OpenSession {
  userId: string;
  sessionId: string;
  /** To be set now: it cannot be recovered afterwards. */
  cookie: string;
}

export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(options: {
  pool: Pool;
  hasher: TokenHasher;
  /** Called with the id of a session after it has ended. */
  revoked: (sessionId: string) => void;
}) {
  const { pool, hasher, revoked } = options;
  return {
    /** Inside the caller's transaction. */
    open: async (tx: Db, userId: string, client: ClientInfo): Promise<OpenSession> => {
      const cookie = createOpaqueToken('ses_');
      const sessionId = newId('ssn_');
      await insertSession(tx, { id: sessionId, userId, cookieHash: hasher.hash(cookie).hash, ...client });
      return { userId, sessionId, cookie };
    },
    /** @throws AppError 401 for a cookie that is no longer valid */
    refresh: async (cookie: string): Promise<OpenSession> => {
      const fresh = createOpaqueToken('ses_');
      const session = await rotateSessionCookie(pool, hasher.candidates(cookie), hasher.hash(fresh).hash);
      if ('userId' in session) return { ...session, cookie: fresh };
      if (session.endedId) revoked(session.endedId);
      throw new AppError('unauthorized', 'session_ended', 'the session has ended; sign in again');
    },
    close: async (cookie: string) => {
      const endedId = await revokeSessionByCookie(pool, hasher.candidates(cookie));
      if (endedId) revoked(endedId);
    },
    /**
     * Inside the caller's transaction; `exceptSessionId` stays active. Returns the ids, to be evicted from caches after
     * the commit.
     */
    closeAllOf: revokeUserSessions,
  };
}
