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
  /** Returns the id of the session that ended, if one did. */
  close(cookie: string): Promise<string | null>;
}

export function createSessions({ pool, hasher }: { pool: Pool; hasher: TokenHasher }): Sessions {
  return {
    open: async (tx, userId, client) => {
      const cookie = newOpaqueToken('ses_');
      await insertSession(tx, { id: newId('ssn_'), userId, cookieHash: hasher.hash(cookie).hash, ...client });
      return cookie;
    },
    refresh: async (cookie) => {
      const fresh = newOpaqueToken('ses_');
      const session = await replaceCookie(pool, hasher.candidates(cookie), hasher.hash(fresh).hash);
      if (!session) throw new AppError('unauthorized', 'session_ended', 'the session has ended; sign in again');
      return { userId: session.userId, cookie: fresh };
    },
    close: (cookie) => revokeSession(pool, hasher.candidates(cookie)),
  };
}
