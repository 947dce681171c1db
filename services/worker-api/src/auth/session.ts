/** Sessions of browsers: a cookie that is replaced at each refresh, and a JWT for an hour. */
import { newOpaqueToken, type TokenHasher } from '@gantry/auth';
import { newId } from '@gantry/events';
import { AppError } from '@gantry/http';
import type { Pool } from 'pg';
import type { Db } from '../database';
import { insertSession, replaceCookie, revokeSession } from './session-repository';

/** What the list of sessions will show of a sign-in. */
export interface Client {
  address: string | null;
  userAgent: string | null;
}

export interface Sessions {
  /** Inside the caller's transaction. Returns the cookie. */
  open(tx: Db, userId: string, client: Client): Promise<string>;
  /** @throws AppError 401 for a cookie that no longer counts */
  refresh(cookie: string): Promise<{ userId: string; cookie: string }>;
  close(cookie: string): Promise<void>;
}

export function createSessions(options: {
  pool: Pool;
  hasher: TokenHasher;
  /** Called with the id of a session after it has ended. */
  revoked: (sessionId: string) => void;
}): Sessions {
  const { pool, hasher, revoked } = options;
  return {
    open: async (tx, userId, client) => {
      const cookie = newOpaqueToken('ses_');
      await insertSession(tx, { id: newId('ssn_'), userId, cookieHash: hasher.hash(cookie).hash, ...client });
      return cookie;
    },
    refresh: async (cookie) => {
      const fresh = newOpaqueToken('ses_');
      const session = await replaceCookie(pool, hasher.candidates(cookie), hasher.hash(fresh).hash);
      if ('userId' in session) return { userId: session.userId, cookie: fresh };
      if (session.endedId) revoked(session.endedId);
      throw new AppError('unauthorized', 'session_ended', 'the session has ended; sign in again');
    },
    close: async (cookie) => {
      const endedId = await revokeSession(pool, hasher.candidates(cookie));
      if (endedId) revoked(endedId);
    },
  };
}
