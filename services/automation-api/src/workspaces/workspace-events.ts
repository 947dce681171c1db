/** A workspace that worker-api deleted is closed until it is restored, and all of it goes when it is purged. */
import { type Bus, type Consumer, consume, consumeClosures, workspacePurged } from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import type { Vault } from '@gantry/vault';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';

export interface WorkspaceEventDeps {
  bus: Bus;
  pool: Pool;
  objects: ObjectStore;
  vault: Vault;
  log: Logger;
}

export function consumeWorkspaceEvents(deps: WorkspaceEventDeps): Consumer[] {
  const { bus, pool, vault, log } = deps;
  const shared = { bus, pool, log, service: 'automation-api' as const };
  return [
    ...consumeClosures(shared),
    consume({
      ...shared,
      event: workspacePurged,
      handle: async (tx, { data: { workspaceId } }) => {
        await deleteAllOf(tx, deps.objects, workspaceId);
        vault.forget(workspaceId);
      },
    }),
  ];
}

/** In an order that foreign keys allow; a test finds a table that is missing here. Runs take their events along. */
const TABLES = [
  'automation_versions',
  'automations',
  'artifacts',
  'uploads',
  'secrets',
  'data_keys',
  'idempotency_keys',
  'run_artifacts',
  'workspace_closures',
];
/** Keeps each statement far below the statement timeout. */
const RUNS_AT_ONCE = 1_000;
const BLOBS_AT_ONCE = 20;

export async function deleteAllOf(tx: PoolClient, objects: ObjectStore, workspaceId: string): Promise<void> {
  await deleteBlobs(
    objects,
    await keysOf(
      tx,
      `SELECT code_key AS key FROM artifacts WHERE workspace_id = $1
       UNION SELECT storage_key FROM uploads WHERE workspace_id = $1
       UNION SELECT key FROM run_artifacts WHERE workspace_id = $1`,
      [workspaceId],
    ),
  );
  for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
  for (;;) {
    const { rows } = await tx.query<{ id: string; output_key: string | null }>(
      `DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE workspace_id = $1 LIMIT $2) RETURNING id, output_key`,
      [workspaceId, RUNS_AT_ONCE],
    );
    await deleteBlobs(
      objects,
      rows.flatMap(({ id, output_key }) => [
        `${workspaceId}/runs/${id}/inputs.json`,
        `${workspaceId}/runs/${id}/steps.json`,
        ...(output_key ? [output_key] : []),
      ]),
    );
    if (rows.length < RUNS_AT_ONCE) return;
  }
}

async function keysOf(tx: PoolClient, sql: string, values: unknown[]): Promise<string[]> {
  const { rows } = await tx.query<{ key: string }>(sql, values);
  return rows.map(({ key }) => key);
}

async function deleteBlobs(objects: ObjectStore, keys: string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += BLOBS_AT_ONCE) {
    await Promise.all(keys.slice(start, start + BLOBS_AT_ONCE).map((key) => objects.delete(key)));
  }
}
