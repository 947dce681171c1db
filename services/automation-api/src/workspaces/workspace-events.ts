/** Consumes workspace events of worker-api: a deleted workspace is closed, and its data is deleted on purge. */
import {
  type Bus,
  type Consumer,
  consumeClosures,
  consumeWithSingleHandler,
  retentionChanged,
  workspacePurged,
} from '@gantry/events';
import type { ObjectStore } from '@gantry/object-store';
import { deleteRunsOfWorkspace, writeRetention } from '@gantry/run-engine';
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
    consumeWithSingleHandler({
      ...shared,
      event: retentionChanged,
      handle: (tx, { data }) => writeRetention(tx, { ...data, changedAt: new Date(data.changedAt) }),
    }),
    consumeWithSingleHandler({
      ...shared,
      event: workspacePurged,
      handle: async (tx, { data: { workspaceId } }) => {
        await deleteWorkspaceRows(tx, deps.objects, workspaceId);
        vault.evict(workspaceId);
      },
    }),
  ];
}

/** In the order of foreign keys; a test fails for a missing table. Deleting runs deletes their events. */
const TABLES = [
  'automation_versions',
  'automations',
  'artifacts',
  'uploads',
  'secrets',
  'data_keys',
  'idempotency_keys',
  'workspace_closures',
];

export async function deleteWorkspaceRows(tx: PoolClient, objects: ObjectStore, workspaceId: string): Promise<void> {
  await objects.deleteFolder(workspaceId);
  await deleteRunsOfWorkspace(tx, workspaceId);
  for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
}
