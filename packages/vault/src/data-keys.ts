/**
 * Data keys of a workspace, wrapped by a key-encryption key: one, or several during a rotation (key-rotation.ts).
 * Rotating the key-encryption key rewrites only these few rows, never the values. Deleting a workspace's rows makes
 * everything sealed for it permanently unreadable.
 */

import { randomBytes } from 'node:crypto';
import { transaction } from '@gantry/postgres';
import { LRUCache } from 'lru-cache';
import type { Pool, PoolClient } from 'pg';
import { decrypt, encodeAssociatedData, encrypt } from './aead';
import type { KeyRing } from './key-ring';

export interface DataKey {
  version: number;
  key: Buffer;
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
/** A replica may go on sealing with a key for this long after another replica has created a newer one. */
const FRESH_MS = 60_000;

const INSERT = 'INSERT INTO data_keys (workspace_id, version, kek_version, wrapped_key) VALUES ($1, $2, $3, $4)';

export function createDataKeys({ keys, pool }: { keys: KeyRing; pool: Pool }) {
  const cached = new LRUCache<string, { found: DataKey[]; readAt: number }>({ max: CACHED_MAX });

  function unwrap({ workspace_id, version, kek_version, wrapped_key }: Row): DataKey {
    const kek = keys.keys.get(kek_version);
    if (!kek) throw new Error(`key-encryption key "${kek_version}" is not configured`);
    return {
      version,
      key: decrypt(kek, encodeAssociatedData('data_keys', workspace_id, version, kek_version), wrapped_key),
    };
  }

  function wrap(workspaceId: string, { version, key }: DataKey): Buffer {
    const kek = keys.keys.get(keys.current) as Buffer;
    return encrypt(kek, encodeAssociatedData('data_keys', workspaceId, version, keys.current), key);
  }

  async function loadFromDatabase(workspaceId: string): Promise<DataKey[]> {
    const { rows } = await pool.query<Row>(
      'SELECT workspace_id, version, kek_version, wrapped_key FROM data_keys WHERE workspace_id = $1 ORDER BY version',
      [workspaceId],
    );
    return rows.map(unwrap);
  }

  function cacheKeys(workspaceId: string, dataKeys: DataKey[]): DataKey[] {
    cached.set(workspaceId, { found: dataKeys, readAt: Date.now() });
    return dataKeys;
  }

  async function loadCachedKeys(workspaceId: string, ageMsMax = Number.POSITIVE_INFINITY): Promise<DataKey[]> {
    const known = cached.get(workspaceId);
    if (known && Date.now() - known.readAt <= ageMsMax) return known.found;
    const found = await loadFromDatabase(workspaceId);
    return found.length ? cacheKeys(workspaceId, found) : [];
  }

  /** Two replicas may both find no key: the first row wins, and both read it back. */
  async function createDataKey(workspaceId: string): Promise<DataKey[]> {
    const fresh = { version: 1, key: randomBytes(32) };
    const row = [workspaceId, fresh.version, keys.current, wrap(workspaceId, fresh)];
    await pool.query(`${INSERT} ON CONFLICT DO NOTHING`, row);
    return cacheKeys(workspaceId, await loadFromDatabase(workspaceId));
  }

  function rewrapBatch(): Promise<number> {
    return transaction(pool, async (tx) => {
      const { rows } = await tx.query<Row>(
        `SELECT workspace_id, version, kek_version, wrapped_key FROM data_keys
         WHERE kek_version <> $1 LIMIT $2 FOR UPDATE SKIP LOCKED`,
        [keys.current, REWRAP_BATCH],
      );
      for (const row of rows) {
        await tx.query(
          'UPDATE data_keys SET kek_version = $3, wrapped_key = $4 WHERE workspace_id = $1 AND version = $2',
          [row.workspace_id, row.version, keys.current, wrap(row.workspace_id, unwrap(row))],
        );
      }
      return rows.length;
    });
  }

  return {
    /** The newest key of the workspace, at most a minute stale; created on first use. */
    current: async (workspaceId: string): Promise<DataKey> => {
      const newest = (await loadCachedKeys(workspaceId, FRESH_MS)).at(-1) ?? (await createDataKey(workspaceId)).at(-1);
      if (!newest) throw new Error(`the data key of workspace ${workspaceId} was deleted while it was being created`);
      return newest;
    },
    /** @throws Error if there is no such key. */
    byVersion: async (workspaceId: string, version: number): Promise<DataKey> => {
      const findByVersion = (found: DataKey[]) => found.find((key) => key.version === version);
      // Another replica may have created a newer key since this one read them.
      const key =
        findByVersion(await loadCachedKeys(workspaceId)) ??
        findByVersion(cacheKeys(workspaceId, await loadFromDatabase(workspaceId)));
      if (!key) throw new Error(`workspace ${workspaceId} has no data key ${version}`);
      return key;
    },
    /**
     * Adds a newer key inside the caller's transaction; invalidate the cache with `evict` after the commit.
     * @returns its version
     */
    add: async (tx: PoolClient, workspaceId: string): Promise<number> => {
      await tx.query("SELECT pg_advisory_xact_lock(hashtextextended('data_keys:' || $1, 0))", [workspaceId]);
      const { rows } = await tx.query<{ next: number }>(
        'SELECT coalesce(max(version), 0) + 1 AS next FROM data_keys WHERE workspace_id = $1',
        [workspaceId],
      );
      const fresh = { version: rows[0]?.next ?? 1, key: randomBytes(32) };
      await tx.query(INSERT, [workspaceId, fresh.version, keys.current, wrap(workspaceId, fresh)]);
      return fresh.version;
    },
    evict: (workspaceId: string) => {
      cached.delete(workspaceId);
    },
    rewrap: async (): Promise<number> => {
      let total = 0;
      for (let done = await rewrapBatch(); done > 0; done = await rewrapBatch()) total += done;
      return total;
    },
  };
}
