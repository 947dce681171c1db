/**
 * Refreshing tokens, once over all replicas.
 *
 * The refreshing replica holds a lease in the row. What comes back is written by compare-and-set of the row's version
 * before it is used: a rotated refresh token replaces the old one in the same statement, and an answer that comes too
 * late overwrites nothing. A provider that is away is asked again, later each time; one that refuses for good ends it.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, isDependencyDown } from '@gantry/errors';
import { addChangeHint, buildWorkspaceClosedSql, connectionFailed, enqueue } from '@gantry/events';
import { SYSTEM } from '@gantry/http';
import { transaction, writeRow } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import type { Connection, Prisma } from '../generated/prisma/client';
import type { ConnectionDeps } from './connection-deps';
import { findConnection, updateConnectionAtVersion } from './connection-repository';
import { toAuditDetails } from './connection-service';
import { type OauthGrantCredential, openCredential, sealCredential } from './credential';
import { ENDPOINTS_CHANGED_MESSAGE, refreshTokens, type Tokens } from './oauth-client';
import { resolveOauthConfig } from './oauth-config';
import { ProviderError, toProviderError } from './provider-fetch';
import { computeNextRefresh, computeTokenExpiry } from './token-expiry';

/** Longer than a request to a provider may take. */
const LEASE_SECONDS = 60;
/** With the request before it, less than the lease. */
const STORE_SECONDS_MAX = 30;
const STORE_RETRY_MS = 500;
const BATCH = 20;

const CLAIM_DUE = `UPDATE connections SET leased_until = $1::timestamptz + make_interval(secs => ${LEASE_SECONDS})
  WHERE id = ANY(ARRAY(SELECT c.id FROM connections c
    WHERE c.refresh_at <= $1 AND NOT ${buildWorkspaceClosedSql('c.workspace_id')} AND (c.leased_until IS NULL OR c.leased_until <= $1)
    ORDER BY c.refresh_at LIMIT ${BATCH} FOR UPDATE OF c SKIP LOCKED))
  RETURNING id, workspace_id AS "workspaceId"`;

/** When the next refresh is due, or the lease of one ends; null: not before the next poll. */
export const REFRESH_DUE_AT = `(SELECT min(greatest(c.refresh_at, c.leased_until)) FROM connections c
  WHERE c.refresh_at < now() + interval '10 seconds' AND NOT ${buildWorkspaceClosedSql('c.workspace_id')})`;

const CLAIM_ONE = `UPDATE connections SET leased_until = $1::timestamptz + make_interval(secs => ${LEASE_SECONDS})
  WHERE id = $2 AND version = $3 AND (leased_until IS NULL OR leased_until <= $1) RETURNING id`;

/** Refreshes what is due. @returns how many were looked at */
export async function refreshDueConnections(deps: ConnectionDeps): Promise<number> {
  const { pool, prisma, log, now } = deps;
  const { rows } = await pool.query<Pick<Connection, 'id' | 'workspaceId'>>(CLAIM_DUE, [now()]);
  await Promise.all(
    rows
      .map(async ({ id, workspaceId }) => {
        const connection = await findConnection(prisma, workspaceId, id);
        if (connection) await refreshLeasedConnection(deps, connection);
      })
      .map((work) => work.catch((err) => log.error({ err }, 'connection not refreshed: its lease will expire'))),
  );
  return rows.length;
}

/** Now, unless another replica does it already. @returns the connection after it */
export async function refreshConnection(deps: ConnectionDeps, connection: Connection): Promise<Connection> {
  const { id, workspaceId, version } = connection;
  const isClaimed = await writeRow(deps.pool, CLAIM_ONE, [deps.now(), id, version]);
  if (!isClaimed) return (await findConnection(deps.prisma, workspaceId, id)) ?? connection;
  return refreshLeasedConnection(deps, connection);
}

/** @returns the connection after a refresh that is due, and otherwise as it is */
export const refreshIfDue = async (deps: ConnectionDeps, connection: Connection): Promise<Connection> =>
  isRefreshDue(connection, deps.now()) ? refreshConnection(deps, connection) : connection;

/** Whether its token has ended, or is so near its end that it should have been refreshed. */
export const isRefreshDue = ({ refreshAt, tokenExpiresAt }: Connection, now: Date): boolean =>
  [refreshAt, tokenExpiresAt].some((at) => at !== null && at <= now);

const POLL_MS = 100;

/** Waits for its refresh, whichever replica does it, but no longer than that. The refresh goes on either way. */
export async function refreshOrTimeOut(deps: ConnectionDeps, connection: Connection, waitMs: number): Promise<void> {
  const over = new AbortController();
  const timeout = sleep(waitMs, undefined, { signal: over.signal });
  const refreshed = refreshConnection(deps, connection).then(() => waitForLeaseRelease(deps, connection, over.signal));
  refreshed.catch((err) => deps.log.error({ err, connectionId: connection.id }, 'connection not refreshed'));
  try {
    await Promise.race([refreshed, timeout]);
  } finally {
    over.abort();
  }
}

async function waitForLeaseRelease(
  { prisma }: ConnectionDeps,
  { id, workspaceId, version }: Connection,
  over: AbortSignal,
) {
  for (;;) {
    const present = await findConnection(prisma, workspaceId, id);
    if (!present || present.version !== version || present.leasedUntil === null || over.aborted) return;
    await sleep(POLL_MS);
  }
}

async function refreshLeasedConnection(deps: ConnectionDeps, connection: Connection): Promise<Connection> {
  const credential = await openCredential(deps.vault, connection).catch((err) => {
    if (isDependencyDown(err)) throw err;
    deps.log.error({ err, connectionId: connection.id }, 'connection tokens cannot be decrypted');
    return 'unreadable' as const;
  });
  if (credential !== 'unreadable' && credential?.kind !== 'oauth') {
    return storeAndReleaseLease(deps, connection, { refreshAt: null });
  }
  try {
    if (credential === 'unreadable') {
      throw new ProviderError('the stored credential cannot be decrypted; give consent again', true);
    }
    if (credential.refreshToken === null) {
      throw new ProviderError('the token has expired and cannot be refreshed; give consent again', true);
    }
    const party = await resolveOauthConfig(deps, connection);
    if (party.client.id !== credential.clientId) {
      throw new ProviderError(
        'the token was issued to a different OAuth client from the one the app uses now; give consent again',
        true,
      );
    }
    const tokens = await refreshTokens(party, credential, credential.refreshToken);
    const before = { ...credential, addressDigest: party.provider.addressDigest };
    return await retryUntilStored(() => storeTokens(deps, connection, before, tokens));
  } catch (err) {
    if (err instanceof AppError && err.kind !== 'unavailable') {
      return recordRefreshFailure(deps, connection, new ProviderError(err.detail, true, err));
    }
    return recordRefreshFailure(deps, connection, toProviderError(err));
  }
}

/**
 * The provider may have ended the old refresh token, so that the new one is stored however long PostgreSQL is away,
 * within the lease.
 */
async function retryUntilStored<T>(store: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + STORE_SECONDS_MAX * 1_000;
  for (;;) {
    try {
      return await store();
    } catch (err) {
      if (!isDependencyDown(err) || performance.now() >= endsAt) throw err;
      await sleep(STORE_RETRY_MS);
    }
  }
}

async function storeTokens(
  deps: ConnectionDeps,
  connection: Connection,
  before: OauthGrantCredential,
  tokens: Tokens,
): Promise<Connection> {
  const version = connection.version + 1;
  const refreshToken = tokens.refreshToken ?? before.refreshToken;
  const grant: OauthGrantCredential = { ...before, accessToken: tokens.accessToken, refreshToken };
  const now = deps.now();
  return storeAndReleaseLease(deps, connection, {
    sealed: await sealCredential(deps.vault, { ...connection, version }, grant),
    version,
    status: 'active',
    problem: null,
    refreshFailures: 0,
    lastCheckedAt: now,
    ...computeTokenExpiry({ expiresInSeconds: tokens.expiresInSeconds, refreshToken }, now),
    ...(tokens.scopes && { scopes: tokens.scopes }),
  });
}

function recordRefreshFailure(
  deps: ConnectionDeps,
  connection: Connection,
  { message, isFinal }: ProviderError,
): Promise<Connection> {
  const now = deps.now();
  if (isFinal) return storeAndReleaseLease(deps, connection, { status: 'expired', problem: message, refreshAt: null });
  const failures = connection.refreshFailures + 1;
  const { tokenExpiresAt, status } = connection;
  // Until its end the present token is good.
  const isOver = tokenExpiresAt !== null && tokenExpiresAt <= now;
  return storeAndReleaseLease(deps, connection, {
    status: isOver ? 'error' : status,
    problem: isOver ? message : connection.problem,
    refreshFailures: failures,
    refreshAt: computeNextRefresh(failures, now),
  });
}

/** Writes the outcome and releases the lease, which the caller holds. */
const storeAndReleaseLease = (
  deps: ConnectionDeps,
  connection: Connection,
  change: Prisma.ConnectionUncheckedUpdateInput,
) => storeRefreshOutcome(deps, connection, { ...change, leasedUntil: null });

/** Writes what came of it, unless the credential has changed meanwhile, and says so where the status has. */
export async function storeRefreshOutcome(
  deps: ConnectionDeps,
  connection: Connection,
  change: Prisma.ConnectionUncheckedUpdateInput,
): Promise<Connection> {
  return transaction(deps.prisma, (tx) => storeOutcomeInTransaction(tx, connection, change));
}

/** Expires the connections of an app whose provider has moved: their tokens are not for the new addresses. */
export async function expireConnections(
  tx: Prisma.TransactionClient,
  { workspaceId, app }: Pick<Connection, 'workspaceId' | 'app'>,
): Promise<void> {
  const holding = await tx.connection.findMany({
    where: { workspaceId, app, kind: 'oauth', sealed: { not: null }, status: { not: 'expired' } },
  });
  for (const connection of holding) {
    await storeOutcomeInTransaction(tx, connection, {
      status: 'expired',
      problem: ENDPOINTS_CHANGED_MESSAGE,
      refreshAt: null,
    });
  }
}

async function storeOutcomeInTransaction(
  tx: Prisma.TransactionClient,
  connection: Connection,
  change: Prisma.ConnectionUncheckedUpdateInput,
): Promise<Connection> {
  const { id, workspaceId, status: before } = connection;
  const settled = await updateConnectionAtVersion(tx, connection, change);
  if (!settled) return (await findConnection(tx, workspaceId, id)) ?? connection;
  addChangeHint(tx, workspaceId, 'connections');
  if (settled.status === before) return settled;
  const hasFailed = settled.status === 'expired' || settled.status === 'error';
  const details = { ...toAuditDetails(settled), from: before, to: settled.status, problem: settled.problem };
  if (hasFailed && before === 'active') {
    await recordChange(tx, SYSTEM, 'connection.failed', { workspaceId, id }, details);
    const { app, label, status, problem } = settled;
    await enqueue(tx, connectionFailed, workspaceId, {
      connectionId: id,
      app,
      label,
      status,
      problem: problem ?? '',
    });
  }
  if (settled.status === 'active') {
    await recordChange(tx, SYSTEM, 'connection.recovered', { workspaceId, id }, details);
  }
  return settled;
}
