/**
 * Rotation of a workspace's data key without downtime.
 *
 * A rotation begins by adding the key. From then on values are sealed with it: here at once, in other replicas within a
 * minute. Values under older keys are re-encrypted row by row, by compare-and-set, so that a concurrent write wins.
 * An older key is deleted when nothing is sealed with it and its successor has existed for RETIRE_SECONDS, long after
 * the last replica sealed with it. No other state is stored: a workspace with two keys is one whose rotation is in
 * progress, and any replica that finds it continues. Readers are unaffected, because each value names its key.
 */

import { conflict } from '@gantry/errors';
import { type Tx, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Vault } from './vault';

/** A column that holds sealed values, in a table with `workspace_id`. Every such column of a service must be listed. */
export interface SealedColumn {
  table: string;
  column: string;
  /** The table in the associated data of its values, if they have moved since. */
  sealedFor?: string;
  /** SQL for the `name` and `version` in the associated data of its values. */
  name: string;
  version: string;
  /** SQL for the `hosts` in it; absent: none. */
  hosts?: string;
}

export type KeyRotation = ReturnType<typeof createKeyRotation>;

const RETIRE_SECONDS = 3_600;
const KEYS_MAX = 10;
const BATCH = 100;

export function createKeyRotation(options: {
  pool: Pool;
  vault: Vault;
  columns: SealedColumn[];
  log: { error(fields: object, message: string): void };
  /** For tests: minimum retention of an older key. */
  retireSeconds?: number;
}) {
  const { pool, vault, columns, log, retireSeconds = RETIRE_SECONDS } = options;

  async function reseal(workspaceId: string): Promise<number> {
    let count = 0;
    for (const column of columns) count += await resealColumn(workspaceId, column);
    return count;
  }

  async function resealColumn(
    workspaceId: string,
    { table, column, sealedFor = table, name, version, hosts = "'{}'::text[]" }: SealedColumn,
  ): Promise<number> {
    const select = `SELECT ${name} AS name, ${version} AS version, ${hosts} AS hosts, ${column} AS sealed FROM ${table}
      WHERE workspace_id = $1 AND ${name} > $2 AND ${buildVersionSql(column)} <>
        (SELECT int4send(max(version)) FROM data_keys WHERE workspace_id = $1)
      ORDER BY 1 LIMIT ${BATCH}`;
    const update = `UPDATE ${table} SET ${column} = $3 WHERE workspace_id = $1 AND ${name} = $2 AND ${column} = $4`;
    let count = 0;
    for (let after = ''; ; ) {
      const { rows } = await pool.query<{ name: string; version: number; hosts: string[]; sealed: Buffer }>(select, [
        workspaceId,
        after,
      ]);
      for (const row of rows) {
        const associatedData = { table: sealedFor, name: row.name, version: row.version, hosts: row.hosts };
        try {
          const sealed = await vault.seal(
            workspaceId,
            associatedData,
            await vault.open(workspaceId, associatedData, row.sealed),
          );
          count += (await pool.query(update, [workspaceId, row.name, sealed, row.sealed])).rowCount ?? 0;
        } catch (err) {
          // Its key stays, so no data is lost.
          log.error({ err, workspaceId, table, name: row.name }, 'could not move a sealed value to the new data key');
        }
      }
      const last = rows.at(-1);
      if (!last || rows.length < BATCH) return count;
      after = last.name;
    }
  }

  const unused = columns
    .map(
      ({ table, column }) => `AND NOT EXISTS (SELECT FROM ${table} t
        WHERE t.workspace_id = d.workspace_id AND ${buildVersionSql(`t.${column}`)} = int4send(d.version))`,
    )
    .join('\n');
  const RETIRE = `DELETE FROM data_keys d WHERE workspace_id = $1 AND EXISTS (SELECT FROM data_keys newer
      WHERE newer.workspace_id = d.workspace_id AND newer.version > d.version
        AND newer.created_at <= now() - make_interval(secs => $2)) ${unused}`;

  return {
    /**
     * Adds a key and re-encrypts everything with it. `finish` takes care of the remainder.
     * @param audit writes the audit entry inside the transaction that adds the key
     * @throws AppError 409 `keys_rotating` while ten keys wait to be retired
     */
    rotate: async (
      workspaceId: string,
      audit: (tx: Tx, keyVersion: number) => Promise<unknown>,
    ): Promise<{ keyVersion: number; resealed: number }> => {
      const keyVersion = await transaction(pool, async (tx) => {
        const version = await vault.addDataKey(tx, workspaceId);
        const { rows } = await tx.query('SELECT count(*)::int AS count FROM data_keys WHERE workspace_id = $1', [
          workspaceId,
        ]);
        if (rows[0].count > KEYS_MAX) {
          throw conflict('keys_rotating', 'earlier keys are still being retired; try again in an hour');
        }
        await audit(tx, version);
        return version;
      });
      vault.evict(workspaceId);
      return { keyVersion, resealed: await reseal(workspaceId) };
    },

    /** For housekeeping: continues every rotation in progress. Safe to run on several replicas at once. */
    finish: async (): Promise<{ resealed: number; retired: number }> => {
      const { rows } = await pool.query<{ workspace_id: string }>(
        'SELECT workspace_id FROM data_keys GROUP BY workspace_id HAVING count(*) > 1',
      );
      const done = { resealed: 0, retired: 0 };
      for (const { workspace_id: workspaceId } of rows) {
        done.resealed += await reseal(workspaceId);
        done.retired += (await pool.query(RETIRE, [workspaceId, retireSeconds])).rowCount ?? 0;
      }
      return done;
    },
  };
}

/** The four bytes of a sealed value that name its data key: see vault.ts. */
const buildVersionSql = (column: string) => `substring(${column} from 2 for 4)`;
