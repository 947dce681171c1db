/** A workspace that worker-api deleted is closed until it is restored, and nothing of a purged one is left. */
import { type Bus, type Consumer, consumeClosures, consumeWithSingleHandler, workspacePurged } from '@gantry/events';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { deleteWorkspaceSkills } from '../skills/skill-repository';

export function consumeWorkspaceEvents(options: { bus: Bus; pool: Pool; log: Logger }): Consumer[] {
  const shared = { ...options, service: 'skills-api' } as const;
  return [
    ...consumeClosures(shared),
    consumeWithSingleHandler({
      ...shared,
      event: workspacePurged,
      handle: (tx, { data }) => deleteWorkspaceRows(tx, data.workspaceId),
    }),
  ];
}

/** A test finds a table that is missing here. Skills and libraries take along what refers to them, also of others. */
const TABLES = ['libraries', 'api_keys', 'skill_pins', 'idempotency_keys', 'workspace_closures'];

async function deleteWorkspaceRows(tx: PoolClient, workspaceId: string): Promise<void> {
  for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [workspaceId]);
  await deleteWorkspaceSkills(tx, workspaceId);
}
