/**
 * A tree as one zip in the object store. The pack is put before the row that names it, under a key of its own that is
 * written down first: where no row follows, sweepPacks takes it away again.
 */
import { newId } from '@gantry/events';
import { ObjectMissingError, type ObjectStore } from '@gantry/object-store';
import { execute, type Tx } from '@gantry/postgres';
import { createLimiter, packFiles, readPackedFiles } from '@gantry/program';
import { buildHasEndedSql } from '@gantry/run-engine';
import type { Pool } from 'pg';
import { type FileTree, TREE_BYTES_MAX } from './file-tree';
import type { FileTreeDeps } from './file-tree-deps';

export interface TreePack {
  /** SHA-256 of the zip, hex: equal trees have equal ones. */
  digest: string;
  key: string;
  /** Bytes of the zip. */
  size: number;
}

/** Names and headers of the files come on top of what they hold. */
const PACK_BYTES_MAX = TREE_BYTES_MAX + 2 * 1024 * 1024;
/** Each holds a tree and its pack in memory, a waiting one the tree alone; small ones need not wait. */
const packLimiter = createLimiter(4, 100);
const UNQUEUED_BYTES_MAX = 1024 * 1024;
/** A waiting caller holds nothing yet. */
const readLimiter = createLimiter(8, 2_000);

/** @param keyPrefix `<workspaceId>/workers/<uid>` or `<workspaceId>/contexts/<uid>` */
export function packTree(
  { objects, pool }: Pick<FileTreeDeps, 'objects' | 'pool'>,
  keyPrefix: string,
  tree: FileTree,
): Promise<TreePack> {
  const writePack = async () => {
    const { zip, digest } = await packFiles(tree);
    const key = `${keyPrefix}/${digest}.${newId('')}.zip`;
    await pool.query('INSERT INTO pack_intents (key) VALUES ($1)', [key]);
    await objects.put(key, zip, { contentType: 'application/zip' });
    return { digest, key, size: zip.length };
  };
  return tree.reduce((sum, { size }) => sum + size, 0) <= UNQUEUED_BYTES_MAX ? writePack() : packLimiter(writePack);
}

/** @throws ObjectMissingError */
export function readTree(objects: ObjectStore, { key }: Pick<TreePack, 'key'>): Promise<FileTree> {
  return readLimiter(async () => {
    const files = await readPackedFiles(await objects.getBuffer(key, PACK_BYTES_MAX));
    return files.map(({ path, content, hash }) => ({ path, content, size: content.length, sha: hash }));
  });
}

/**
 * Keeps the pack of a run without a version until that run has ended. Call it in the transaction that makes the run.
 */
export const retainPackForRun = (tx: Tx, { key }: Pick<TreePack, 'key'>, runId: string): Promise<unknown> =>
  execute(tx, 'UPDATE pack_intents SET run_id = $2 WHERE key = $1', [key, runId]);

/** Reads a tree for a change. Where the store has lost it, the change alone makes a new one. */
export const readTreeForUpdate = (
  objects: ObjectStore,
  pack: Pick<TreePack, 'key'>,
): Promise<{ present: FileTree; isLost: boolean }> =>
  readTree(objects, pack).then(
    (present) => ({ present, isLost: false }),
    (err) => {
      if (err instanceof ObjectMissingError) return { present: [], isLost: true };
      throw err;
    },
  );

/** Puts a pack that the store has lost back to its place, from a tree with the same files. */
export async function restorePack(objects: ObjectStore, { key, digest }: TreePack, tree: FileTree): Promise<void> {
  const packed = await packFiles(tree);
  // Another digest, such as of an earlier way to pack, would be refused wherever the pack is read.
  if (packed.digest === digest) await objects.put(key, packed.zip, { contentType: 'application/zip' });
}

/**
 * For packs of versions that are deleted: sweepPacks takes them in an hour, for runs may need them until then.
 * @param keysSql a query
 */
export const releasePacks = (tx: Tx, keysSql: string, values: unknown[]): Promise<unknown> =>
  execute(tx, `INSERT INTO pack_intents (key) ${keysSql} ON CONFLICT (key) DO UPDATE SET created_at = now()`, values);

const SWEEP_BATCH_SIZE = 1_000;

/** SQL conditions for the key of a pack. */
export interface PackUse {
  /** A version has it: it stays for as long as that. */
  isOfVersion: ((key: string) => string)[];
  /** Something that may be deleted has it: it is looked at again. */
  isOfDraft: ((key: string) => string)[];
}

/** Deletes packs that were put an hour ago or earlier and that no version, draft or run needs. @returns how many */
export async function sweepPacks(
  pool: Pool,
  objects: ObjectStore,
  { isOfVersion, isOfDraft }: PackUse,
): Promise<number> {
  const buildAnySql = (conditions: PackUse['isOfVersion']) =>
    `(${conditions.map((condition) => condition('pack_intents.key')).join(' OR ')})`;
  let deleted = 0;
  for (;;) {
    const { rows } = await pool.query<{ key: string; used: boolean }>(
      `SELECT key, ${buildAnySql(isOfVersion)} AS used FROM pack_intents
       WHERE created_at < now() - interval '1 hour' AND ${buildHasEndedSql('pack_intents.run_id')} AND NOT ${buildAnySql(isOfDraft)}
       ORDER BY created_at LIMIT $1`,
      [SWEEP_BATCH_SIZE],
    );
    for (const { key, used } of rows) {
      if (used) continue;
      await objects.delete(key);
      deleted++;
    }
    await pool.query('DELETE FROM pack_intents WHERE key = ANY($1)', [rows.map(({ key }) => key)]);
    if (rows.length < SWEEP_BATCH_SIZE) return deleted;
  }
}
