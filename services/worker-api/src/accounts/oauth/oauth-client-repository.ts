import type { Pool } from 'pg';
import type { Db } from '../../database';
import type { OauthClient } from '../../generated/prisma/client';
import type { ClientMetadata } from './oauth-client';

/** Beyond this, clients without a grant are evicted, the oldest first. */
const REGISTERED_CLIENTS_MAX = 5_000;

export const findClient = (db: Db, id: string): Promise<OauthClient | null> =>
  db.oauthClient.findUnique({ where: { id } });

/** Tolerates two callers who fetched the same document concurrently and both write it. */
export function upsertDocumentClient(
  db: Db,
  id: string,
  clientMetadata: ClientMetadata,
  now: Date,
): Promise<OauthClient> {
  const metadata = { ...clientMetadata, readAt: now };
  return db.oauthClient.upsert({ where: { id }, create: { id, ...metadata }, update: metadata });
}

export const insertClient = (tx: Db, id: string, clientMetadata: ClientMetadata): Promise<OauthClient> =>
  tx.oauthClient.create({ data: { id, ...clientMetadata } });

/** Evicts unused clients, the oldest first, because registration is open. */
export const evictUngrantedClients = (tx: Db): Promise<unknown> => tx.$executeRaw`
  DELETE FROM oauth_clients WHERE id IN (
    SELECT id FROM oauth_clients WHERE granted_at IS NULL ORDER BY created_at DESC OFFSET ${REGISTERED_CLIENTS_MAX})`;

export const markClientGranted = (tx: Db, id: string, now: Date): Promise<unknown> =>
  tx.oauthClient.updateMany({ where: { id }, data: { grantedAt: now } });

/** Deletes clients that got no grant within a day, or got one over 90 days ago and have none left. */
export const sweepOauthClients = (pool: Pool): Promise<unknown> =>
  pool.query(`DELETE FROM oauth_clients c
    WHERE (granted_at IS NULL AND coalesce(read_at, created_at) < now() - interval '1 day'
        OR granted_at < now() - interval '90 days')
      AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = c.id)`);
