/**
 * One data key per workspace, wrapped by a key-encryption key. Values are never touched when the key-encryption key
 * rotates: only these few rows are. Deleting a workspace's row makes everything sealed for it unreadable for ever.
 */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { associatedData, decrypt, encrypt } from './aead';
import type { KeyRing } from './key-ring';

export interface DataKey {
  version: number;
  key: Buffer;
}

export interface DataKeys {
  /** The newest key of the workspace; made on first use. */
  current(workspaceId: string): Promise<DataKey>;
  /** @throws Error if there is no such key. */
  byVersion(workspaceId: string, version: number): Promise<DataKey>;
  forget(workspaceId: string): void;
  rewrap(): Promise<number>;
}

interface Row {
  workspace_id: string;
  version: number;
  kek_version: string;
  wrapped_key: Buffer;
}

/** 10,000 workspaces take about 3 MB. */
const CACHED_MAX = 10_000;
const REWRAP_BATCH = 100;

export function createDataKeys({ keys, pool }: { keys: KeyRing; pool: Pool }): DataKeys {
  const cached = new Map<string, DataKey[]>();

  function unwrap({ workspace_id, version, kek_version, wrapped_key }: Row): DataKey {
    const kek = keys.keys.get(kek_version);
    if (!kek) throw new Error(`key-encryption key "${kek_version}" is not configured`);
    return { version, key: decrypt(kek, associatedData('data_keys', workspace_id, version, kek_version), wrapped_key) };
  }

  function wrap(workspaceId: string, { version, key }: DataKey): Buffer {
    const kek = keys.keys.get(keys.current) as Buffer;
    return encrypt(kek, associatedData('data_keys', workspaceId, version, keys.current), key);
  }

  async function load(workspaceId: string): Promise<DataKey[]> {
    const { rows } = await pool.query<Row>(
      'SELECT workspace_id, version, kek_version, wrapped_key FROM data_keys WHERE workspace_id = $1 ORDER BY version',
      [workspaceId],
    );
    return rows.map(unwrap);
  }

  function remember(workspaceId: string, found: DataKey[]): DataKey[] {
    cached.delete(workspaceId);
    cached.set(workspaceId, found);
    if (cached.size > CACHED_MAX) cached.delete(cached.keys().next().value as string);
    return found;
  }

  async function keysOf(workspaceId: string): Promise<DataKey[]> {
    const known = cached.get(workspaceId);
    if (known) return remember(workspaceId, known);
    const found = await load(workspaceId);
    return found.length ? remember(workspaceId, found) : [];
  }

  /** Two replicas may both find no key: the first row wins, and both read it back. */
  async function create(workspaceId: string): Promise<DataKey[]> {
    const fresh = { version: 1, key: randomBytes(32) };
    await pool.query(
      'INSERT INTO data_keys (workspace_id, version, kek_version, wrapped_key) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      [workspaceId, fresh.version, keys.current, wrap(workspaceId, fresh)],
    );
    return remember(workspaceId, await load(workspaceId));
  }

  async function rewrapBatch(): Promise<number> {
    const client = await pool.connect();
    let failed: Error | undefined;
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<Row>(
        `SELECT workspace_id, version, kek_version, wrapped_key FROM data_keys
         WHERE kek_version <> $1 LIMIT $2 FOR UPDATE SKIP LOCKED`,
        [keys.current, REWRAP_BATCH],
      );
      for (const row of rows) {
        await client.query(
          'UPDATE data_keys SET kek_version = $3, wrapped_key = $4 WHERE workspace_id = $1 AND version = $2',
          [row.workspace_id, row.version, keys.current, wrap(row.workspace_id, unwrap(row))],
        );
      }
      await client.query('COMMIT');
      return rows.length;
    } catch (err) {
      failed = err as Error;
      await client.query('ROLLBACK').catch(() => {});
      throw err;
    } finally {
      client.release(failed);
    }
  }

  return {
    current: async (workspaceId) => {
      const newest = (await keysOf(workspaceId)).at(-1) ?? (await create(workspaceId)).at(-1);
      if (!newest) throw new Error(`the data key of workspace ${workspaceId} was deleted while it was being made`);
      return newest;
    },
    byVersion: async (workspaceId, version) => {
      const of = (found: DataKey[]) => found.find((key) => key.version === version);
      // Another replica may have made a newer key since this one read them.
      const key = of(await keysOf(workspaceId)) ?? of(remember(workspaceId, await load(workspaceId)));
      if (!key) throw new Error(`workspace ${workspaceId} has no data key ${version}`);
      return key;
    },
    forget: (workspaceId) => {
      cached.delete(workspaceId);
    },
    rewrap: async () => {
      let total = 0;
      for (let done = await rewrapBatch(); done > 0; done = await rewrapBatch()) total += done;
      return total;
    },
  };
}
