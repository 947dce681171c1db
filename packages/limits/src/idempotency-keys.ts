/**
 * Reads and writes the table `idempotency_keys`, which every service has; no other file writes it.
 *
 * A row belongs to a caller (`scope`), an operation and a key. `claim` is the request that holds it, with a lease;
 * `made_id` is the id of the created resource, set by the transaction that created it, and only while the claim is
 * still that request's. If two requests both believe that they hold a key, one commits.
 */

import { AppError } from '@gantry/errors';
import { newId } from '@gantry/events';
import { deleteOldRows, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';

/** Lease of a key whose process does not renew it. */
export const KEY_LEASE_MS = 10_000;
const RETENTION_HOURS = 24;

export interface KeyName {
  /** The caller that the key belongs to. */
  scope: string;
  operation: string;
  key: string;
}

/** A key that a request holds. */
export interface HeldKey extends KeyName {
  claim: string;
}

export interface StoredResponse {
  status: number;
  /** Null if the response contained a value that is shown only once. */
  body: unknown;
  location: string | null;
}

export interface KeyState {
  requestHash: Buffer;
  isHeld: boolean;
  madeId: string | null;
  answer: StoredResponse | null;
}

const LEASE = `now() + interval '${KEY_LEASE_MS} milliseconds'`;
const EXPIRED_BEFORE = `now() - interval '${RETENTION_HOURS} hours'`;
const KEY_CONDITION = 'scope = $1 AND operation = $2 AND key = $3';
const HELD_CONDITION = `${KEY_CONDITION} AND claim = $4`;

const ACQUIRE = `INSERT INTO idempotency_keys AS k (scope, operation, key, claim, lease_until, workspace_id, request_hash)
  VALUES ($1, $2, $3, $4, ${LEASE}, $5, $6)
  ON CONFLICT (scope, operation, key) DO UPDATE SET claim = EXCLUDED.claim, lease_until = EXCLUDED.lease_until,
    workspace_id = EXCLUDED.workspace_id, request_hash = EXCLUDED.request_hash, created_at = now(), made_id = NULL,
    response_status = NULL, response_body = NULL, response_location = NULL
  WHERE k.created_at < ${EXPIRED_BEFORE} OR (k.request_hash = ANY($7) AND k.made_id IS NULL AND k.response_status IS NULL
    AND (k.claim IS NULL OR k.lease_until < now()))
  RETURNING 1`;

/** @param hashes of the request, under every key that is still configured; the first is current */
export async function acquireKey(
  pool: Pool,
  name: KeyName,
  workspaceId: string | null,
  hashes: [Buffer, ...Buffer[]],
): Promise<HeldKey | null> {
  const held = { ...name, claim: newId('claim_') };
  const values = [...toHeldKeyValues(held), workspaceId, hashes[0], hashes];
  return (await writeRow(pool, ACQUIRE, values)) ? held : null;
}

export async function findKey(pool: Pool, { scope, operation, key }: KeyName): Promise<KeyState | null> {
  const { rows } = await pool.query(
    `SELECT request_hash, coalesce(claim IS NOT NULL AND lease_until > now(), false) AS is_held, made_id,
       response_status, response_body, response_location
     FROM idempotency_keys WHERE ${KEY_CONDITION}`,
    [scope, operation, key],
  );
  const [row] = rows;
  if (!row) return null;
  const { response_status: status, response_body: body, response_location: location } = row;
  return {
    requestHash: row.request_hash,
    isHeld: row.is_held,
    madeId: row.made_id,
    answer: status === null ? null : { status, body, location },
  };
}

/** Returns the first parameters of MARK_KEY. */
export const toHeldKeyValues = ({ scope, operation, key, claim }: HeldKey): [string, string, string, string] => [
  scope,
  operation,
  key,
  claim,
];

/** Changes no row if the key is no longer held; then nothing may be committed. */
export const MARK_KEY = `UPDATE idempotency_keys SET made_id = $5, response_status = $6, response_body = $7::json
  WHERE ${HELD_CONDITION} AND made_id IS NULL`;

/**
 * Builds SQL for a statement that creates the resource itself: it marks the key, and returns a row if it did. Its own
 * parameters are those of toHeldKeyParams.
 * @param sql.condition under which the resource is created
 */
export const buildMarkKeySql = (sql: { madeId: string; workspaceId: string; condition: string }): string =>
  `UPDATE idempotency_keys SET made_id = ${sql.madeId}, workspace_id = ${sql.workspaceId}
    WHERE scope = $key_scope AND operation = $key_operation AND key = $key_text AND claim = $key_claim AND made_id IS NULL
      AND (${sql.condition}) RETURNING 1`;

export const toHeldKeyParams = ({ scope, operation, key, claim }: HeldKey) => ({
  key_scope: scope,
  key_operation: operation,
  key_text: key,
  key_claim: claim,
});

export const keyLostError = (): AppError =>
  new AppError('conflict', 'in_flight', 'a later request with this Idempotency-Key is in progress', {
    retryAfterSeconds: 1,
  });

/**
 * Releases the key after the request. The row decides the outcome: without `made_id` and a response, the key is free
 * for the same request, and statements of this one that are still in flight create nothing.
 * @returns the created id; undefined if the key is no longer held
 */
export async function releaseKey(
  pool: Pool,
  heldKey: HeldKey,
  response: StoredResponse | null,
): Promise<string | null | undefined> {
  const { rows } = await pool.query(
    `UPDATE idempotency_keys SET claim = NULL, response_status = coalesce(response_status, $5),
       response_body = CASE WHEN response_status IS NULL THEN $6::json ELSE response_body END, response_location = $7
     WHERE ${HELD_CONDITION} RETURNING made_id`,
    [...toHeldKeyValues(heldKey), ...toResponseColumns(response)],
  );
  return rows[0]?.made_id;
}

/** Stores the response of a request that ended without storing one. The first response wins. */
export async function storeResponse(
  pool: Pool,
  { scope, operation, key }: KeyName,
  answer: StoredResponse,
): Promise<void> {
  await pool.query(
    `UPDATE idempotency_keys SET response_status = $4, response_body = $5::json, response_location = $6
     WHERE ${KEY_CONDITION} AND made_id IS NOT NULL AND response_status IS NULL`,
    [scope, operation, key, ...toResponseColumns(answer)],
  );
}

const toResponseColumns = (answer: StoredResponse | null) => [
  answer?.status ?? null,
  answer && answer.body !== null ? JSON.stringify(answer.body) : null,
  answer?.location ?? null,
];

/** Renews all keys of a process at once. A locked row is about to be committed, and is skipped. */
export async function renewKeys(pool: Pool, held: Iterable<HeldKey>): Promise<void> {
  const keys = [...held];
  await pool.query(
    `UPDATE idempotency_keys k SET lease_until = ${LEASE} FROM (
       SELECT scope, operation, key FROM idempotency_keys
       WHERE (scope, operation, key, claim) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))
       FOR UPDATE SKIP LOCKED
     ) AS mine WHERE k.scope = mine.scope AND k.operation = mine.operation AND k.key = mine.key`,
    [
      keys.map(({ scope }) => scope),
      keys.map(({ operation }) => operation),
      keys.map(({ key }) => key),
      keys.map(({ claim }) => claim),
    ],
  );
}

/** Deletes expired keys. Call periodically; one replica is enough, several do no harm. */
export const sweepIdempotencyKeys = (pool: Pool): Promise<number> =>
  deleteOldRows(pool, 'idempotency_keys', `created_at < ${EXPIRED_BEFORE}`);
