/**
 * Tokens of connections that are gone are revoked at their provider.
 *
 * What is to be revoked commits with the deletion, as a row of its own; any replica takes it, and tries for a day. A
 * claim is a lease: it moves the next attempt beyond the longest that this one may take.
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import { buildWorkspaceDeletedSql } from '../accounts/workspaces/workspace-repository';
import type { Db } from '../database';
import { type Connection, type ConnectionRevocation, Prisma } from '../generated/prisma/client';
import type { ConnectionDeps } from './connection-deps';
import { deleteConnection } from './connection-repository';
import { type Credential, openCredential, openRevokedGrant, sealRevokedGrant } from './credential';
import { revokeGrant } from './oauth-client';
import { type ConnectionRef, resolveOauthConfig } from './oauth-config';
import { ProviderError } from './provider-fetch';

const LEASE_SECONDS = 60;
const ATTEMPTS_MAX = 12;
const BATCH = 20;

/** For the transaction that ends the connection. Call it before: sealing may write. */
export async function enqueueRevocation(
  { vault, now }: Pick<ConnectionDeps, 'vault' | 'now'>,
  { workspaceId, app, parameters, authorization }: ConnectionRef,
  credential: Credential | null,
): Promise<(tx: Db) => Promise<void>> {
  if (credential?.kind !== 'oauth') return async () => {};
  const id = newId('rvk_');
  const sealed = await sealRevokedGrant(vault, workspaceId, id, credential);
  return async (tx) => {
    await tx.connectionRevocation.create({
      data: {
        id,
        workspaceId,
        app,
        parameters: parameters ?? {},
        sealed,
        nextAttemptAt: now(),
        authorization: authorization ?? Prisma.DbNull,
      },
    });
  };
}

type ClaimedRevocation = Omit<ConnectionRevocation, 'nextAttemptAt' | 'createdAt'>;

const CLAIM = `UPDATE connection_revocations SET attempts = attempts + 1,
    next_attempt_at = $1::timestamptz + make_interval(secs => ${LEASE_SECONDS})
  WHERE id = ANY(ARRAY(SELECT id FROM connection_revocations WHERE next_attempt_at <= $1 ORDER BY next_attempt_at LIMIT ${BATCH}
    FOR UPDATE SKIP LOCKED))
  RETURNING id, workspace_id AS "workspaceId", app, parameters, "authorization", sealed, attempts`;

export const REVOCATIONS_DUE_AT = '(SELECT min(next_attempt_at) FROM connection_revocations)';

/** Revokes what is due. @returns how many are done with */
export async function revokeDueGrants(deps: ConnectionDeps): Promise<number> {
  const { pool, now } = deps;
  const { rows } = await pool.query<ClaimedRevocation>(CLAIM, [now()]);
  const done = await Promise.all(rows.map((row) => attemptRevocation(deps, row)));
  return done.filter(Boolean).length;
}

async function attemptRevocation(deps: ConnectionDeps, row: ClaimedRevocation): Promise<boolean> {
  const { pool, vault, log, now } = deps;
  const { id, workspaceId, app, attempts } = row;
  try {
    await revokeGrant(await resolveOauthConfig(deps, row), await openRevokedGrant(vault, workspaceId, id, row.sealed));
  } catch (err) {
    // Without its app, its client or its addresses, no replica can revoke any more.
    const isFinal = err instanceof AppError || (err instanceof ProviderError && err.isFinal);
    const isOver = attempts >= ATTEMPTS_MAX || isFinal;
    if (!(err instanceof ProviderError) && !isOver) log.error({ err, revocationId: id }, 'could not revoke tokens');
    if (!isOver) {
      const next = new Date(now().getTime() + Math.min(60_000 * 2 ** attempts, 4 * 3_600_000));
      await pool.query('UPDATE connection_revocations SET next_attempt_at = $2 WHERE id = $1', [id, next]);
      return false;
    }
    log.warn({ err, revocationId: id, app }, 'tokens were deleted locally but not revoked at the provider');
  }
  await pool.query('DELETE FROM connection_revocations WHERE id = $1', [id]);
  return true;
}

const PURGE_BATCH = 100;

const CONNECTIONS_BEFORE_PURGE = `SELECT c.id, c.workspace_id AS "workspaceId", c.app, c.parameters, c."authorization", c.sealed, c.version, c.hosts
  FROM connections c
  WHERE ${buildWorkspaceDeletedSql('c.workspace_id', '$1')} AND (c.kind = 'oauth' OR c."authorization" IS NOT NULL) AND c.sealed IS NOT NULL ORDER BY c.id LIMIT ${PURGE_BATCH}`;

/**
 * Before workspaces are purged: revokes what their connections hold, once, and deletes those. What a provider does not
 * take goes with the workspace.
 * @param deletedBefore which workspaces are purged next
 */
export async function revokeBeforePurge(deps: ConnectionDeps, deletedBefore: Date): Promise<number> {
  let total = 0;
  for (;;) {
    const { rows } = await deps.pool.query<RevokedConnection>(CONNECTIONS_BEFORE_PURGE, [deletedBefore]);
    await revokeConnections(deps, rows);
    total += rows.length;
    if (rows.length < PURGE_BATCH) return total;
  }
}

type RevokedConnection = ConnectionRef & Pick<Connection, 'id' | 'sealed' | 'version' | 'hosts'>;

async function revokeConnections(deps: ConnectionDeps, connections: RevokedConnection[]): Promise<void> {
  const { prisma, vault, log } = deps;
  for (const connection of connections) {
    // Taken first, so that two replicas do not both ask.
    if (!(await deleteConnection(prisma, connection.workspaceId, connection.id))) continue;
    try {
      const credential = await openCredential(vault, connection);
      if (credential?.kind === 'oauth') await revokeGrant(await resolveOauthConfig(deps, connection), credential);
    } catch (err) {
      log.warn({ err, connectionId: connection.id }, 'tokens from a purged workspace were not revoked at the provider');
    }
  }
}
