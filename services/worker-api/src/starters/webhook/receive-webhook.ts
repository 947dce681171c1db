/**
 * A request of another program becomes a run.
 *
 * A signed request is known by its `webhook-id`. Its receipt commits with its run, so that one that comes again, also
 * at the same moment or after a crash, starts nothing and gets the first one's answer.
 */

import type { TokenHasher } from '@gantry/auth';
import { AppError } from '@gantry/errors';
import { createCreationMarker, type HeldKey } from '@gantry/limits';
import { createBatcher, deleteOldRows, type Sql, transaction, writeRow } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import { startRun } from '../../runs/start-run';
import type { StartableWorker } from '../../workers/startable-worker';
import { listWebhookWorkers, type WebhookWorker } from '../../workers/triggered-workers';
import type { TriggerStartDeps } from '../trigger-start-deps';

const SECRETS_MAX = 100;
interface WebhookSecret {
  workerId: string;
  token: string;
}

/**
 * Finds the worker that a secret starts: workspaces may have workers of the same id. Requests that come together share
 * a statement, and each gets the worker of its own secret alone.
 * @throws AppError 401, the same for an unknown worker and a wrong token
 */
export function createWebhookWorkerLoader(
  sql: Sql,
  hasher: TokenHasher,
): (secret: WebhookSecret) => Promise<WebhookWorker> {
  const find = createBatcher<WebhookSecret, WebhookWorker | undefined>(async (secrets) => {
    const workerIds = new Set(secrets.map(({ workerId }) => workerId));
    const hashes = [...new Set(secrets.map(({ token }) => token))].flatMap((token) => hasher.candidates(token));
    const workers = await listWebhookWorkers(sql, [...workerIds], hashes);
    // Bounded: SECRETS_MAX secrets; only rows of the same id cost a hash.
    return secrets.map(({ workerId, token }) =>
      workers.find(({ id, webhookHash }) => id === workerId && hasher.matches(token, webhookHash)),
    );
  }, SECRETS_MAX);
  return async (secret) => {
    const worker = await find(secret);
    if (!worker) {
      throw new AppError('unauthorized', 'bad_token', 'unknown worker or wrong webhook secret');
    }
    return worker;
  };
}

export interface WebhookCall {
  /** Any JSON; undefined for an empty body. */
  payload: unknown;
  /** Set where the request was signed. */
  webhookId: string | null;
  requestId: string;
  traceparent: string | undefined;
  idempotencyKey: HeldKey | undefined;
}

/**
 * @returns the run's id
 * @throws AppError as startRun
 */
export async function receiveWebhook(
  deps: TriggerStartDeps,
  worker: StartableWorker,
  call: WebhookCall,
): Promise<string> {
  const { webhookId, requestId, traceparent, idempotencyKey } = call;
  const start = {
    worker,
    inputs: toInputs(call.payload),
    trigger: 'webhook' as const,
    createdBy: null,
    requestId,
    traceparent,
    idempotencyKey,
  };
  if (webhookId === null) return (await startRun(deps, start)).id;
  return transaction(deps.pool, async (tx) => {
    const known = await insertReceipt(tx, worker.uid, webhookId);
    if (known) {
      await createCreationMarker({ idempotencyKey })(tx, known);
      return known;
    }
    const run = await startRun(deps, { ...start, tx });
    await tx.query('UPDATE webhook_receipts SET run_id = $3 WHERE worker_uid = $1 AND webhook_id = $2', [
      worker.uid,
      webhookId,
      run.id,
    ]);
    return run.id;
  });
}

/**
 * Waits for another request with the same id that is under way.
 * @returns the run of an earlier one; null: this is the first
 */
async function insertReceipt(tx: PoolClient, workerUid: string, webhookId: string): Promise<string | null> {
  const isFirst = await writeRow(
    tx,
    `INSERT INTO webhook_receipts (worker_uid, webhook_id, run_id) VALUES ($1, $2, '') ON CONFLICT DO NOTHING`,
    [workerUid, webhookId],
  );
  if (isFirst) return null;
  const { rows } = await tx.query('SELECT run_id FROM webhook_receipts WHERE worker_uid = $1 AND webhook_id = $2', [
    workerUid,
    webhookId,
  ]);
  return rows[0].run_id;
}

function toInputs(payload: unknown): Record<string, unknown> {
  if (payload === undefined) return {};
  const isObject = payload !== null && typeof payload === 'object' && !Array.isArray(payload);
  return isObject ? (payload as Record<string, unknown>) : { payload };
}

export const sweepWebhookReceipts = (pool: Pool): Promise<unknown> =>
  deleteOldRows(pool, 'webhook_receipts', "received_at < now() - interval '7 days'");
