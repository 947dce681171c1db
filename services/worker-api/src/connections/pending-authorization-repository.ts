/** Browsers on their way to a provider, by the hash of their state. */
import { createHash } from 'node:crypto';
import { deleteOldRows, type Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Db } from '../database';
import { type ConnectionDeparture, Prisma } from '../generated/prisma/client';
import type { ServerAuthorization } from './mcp-server-authorization';

/** Between leaving for the provider and coming back. */
const PENDING_AUTHORIZATION_TTL_MS = 10 * 60_000;

const hashState = (state: string) => new Uint8Array(createHash('sha256').update(state).digest());

export type NewPendingAuthorization = Omit<ConnectionDeparture, 'stateHash' | 'createdAt' | 'authorization'> & {
  state: string;
  authorization: ServerAuthorization | null;
};

export async function insertPendingAuthorization(
  db: Db,
  { state, authorization, ...departure }: NewPendingAuthorization,
  now: Date,
): Promise<void> {
  const data = {
    ...departure,
    authorization: authorization ?? Prisma.DbNull,
    stateHash: hashState(state),
    createdAt: now,
  };
  await db.connectionDeparture.create({ data });
}

/**
 * Takes it out: one departure, one arrival. Another person's stays for that person.
 * @returns null where there is none, or none of this person's that began in time
 */
export async function consumePendingAuthorization(
  db: Db,
  state: string,
  userId: string,
  now: Date,
): Promise<ConnectionDeparture | null> {
  const stateHash = hashState(state);
  const departure = await db.connectionDeparture.findFirst({ where: { stateHash, userId } });
  if (!departure) return null;
  const { count } = await db.connectionDeparture.deleteMany({ where: { stateHash, userId } });
  return count && now.getTime() - departure.createdAt.getTime() <= PENDING_AUTHORIZATION_TTL_MS ? departure : null;
}

/** Deletes departures from which no browser came back. */
export const sweepPendingAuthorizations = (sql: Sql) =>
  sql.query("DELETE FROM connection_departures WHERE created_at < now() - interval '1 hour'");

const IS_UNFINISHED = `status = 'pending' AND sealed IS NULL AND created_at < now() - interval '24 hours'
  AND NOT EXISTS (SELECT FROM connection_departures d
    WHERE d.connection_id = connections.id AND d.created_at > now() - interval '1 hour')`;

/**
 * Deletes connections without consent within a day. One whose consent is under way stays, and one that holds tokens is
 * not `pending`.
 */
export const sweepUnfinishedConnections = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'connections', IS_UNFINISHED);
