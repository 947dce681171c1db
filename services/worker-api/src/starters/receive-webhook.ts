/**
 * A request of another program becomes a run.
 *
 * A signed request is known by its `webhook-id`. Its receipt commits with its run, so that one that comes again, also at
 * the same moment or after a crash, starts nothing and gets the first one's answer.
 */

import type { TokenHasher } from '@gantry/auth';
import { AppError, type HeldKey, madeBy } from '@gantry/http';
import { deleteOld, type Sql, transaction } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import type { Deps } from '../deps';
import { type Start, startRun } from '../runs/start-run';

export type HookedWorker = Start['worker'] & {
  webhookHash: Buffer;
  webhookSigningKey: Buffer | null;
};

/**
 * The worker that this secret starts: workspaces may have workers of the same id.
 * @throws AppError 401, the same for an unknown worker and a wrong token
 */
export async function getWorkerBySecret(
  sql: Sql,
  hasher: TokenHasher,
  workerId: string,
  token: string,
): Promise<HookedWorker> {
  const { rows } = await sql.query<HookedWorker>({
    name: 'worker-by-secret',
    text: `SELECT w.uid, w.id, w.workspace_id AS "workspaceId", w.name, w.status, w.current_version AS "currentVersion",
             t.webhook_hash AS "webhookHash", t.webhook_signing_key AS "webhookSigningKey"
           FROM workers w
           JOIN worker_triggers t ON t.worker_uid = w.uid AND t.webhook_hash = ANY ($2)
           JOIN workspaces s ON s.id = w.workspace_id AND s.deleted_at IS NULL
           WHERE w.id = $1 AND w.deleted_at IS NULL`,
    values: [workerId, hasher.candidates(token)],
  });
  const [worker] = rows;
  if (worker && hasher.matches(token, worker.webhookHash)) return worker;
  throw new AppError('unauthorized', 'bad_token', "unknown worker, or the token is not its webhook's secret");
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
export async function receiveWebhook(deps: Deps, worker: Start['worker'], call: WebhookCall): Promise<string> {
  const { webhookId, requestId, traceparent, idempotencyKey } = call;
  const start = {
    worker,
    inputs: inputsOf(call.payload),
    trigger: 'webhook' as const,
    createdBy: null,
    requestId,
    traceparent,
    idempotencyKey,
  };
  if (webhookId === null) return (await startRun(deps, start)).id;
  return transaction(deps.pool, async (tx) => {
    const known = await takeReceipt(tx, worker.uid, webhookId);
    if (known) {
      await madeBy({ idempotencyKey })(tx, known);
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

/** Waits for another request with the same id that is under way. @returns the run of an earlier one; null: this is the first */
async function takeReceipt(tx: PoolClient, workerUid: string, webhookId: string): Promise<string | null> {
  const taken = await tx.query(
    `INSERT INTO webhook_receipts (worker_uid, webhook_id, run_id) VALUES ($1, $2, '') ON CONFLICT DO NOTHING`,
    [workerUid, webhookId],
  );
  if (taken.rowCount) return null;
  const { rows } = await tx.query('SELECT run_id FROM webhook_receipts WHERE worker_uid = $1 AND webhook_id = $2', [
    workerUid,
    webhookId,
  ]);
  return rows[0].run_id;
}

function inputsOf(payload: unknown): Record<string, unknown> {
  if (payload === undefined) return {};
  const isObject = payload !== null && typeof payload === 'object' && !Array.isArray(payload);
  return isObject ? (payload as Record<string, unknown>) : { payload };
}

export const sweepWebhookReceipts = (pool: Pool): Promise<unknown> =>
  deleteOld(pool, 'webhook_receipts', "received_at < now() - interval '7 days'");
