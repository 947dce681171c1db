/**
 * A tree as one zip in the object store. The pack is put before the row that names it: if the row is then not written,
 * the pack is found by its digest when the same files come again, or goes with its worker or context.
 */
import type { ObjectStore } from '@gantry/object-store';
import { fewAtOnce, readPack, repack } from '@gantry/program';
import { type FileTree, TREE_BYTES_MAX } from './file-tree';

export interface TreePack {
  /** SHA-256 of the zip, hex. */
  digest: string;
  key: string;
  /** Bytes of the zip. */
  size: number;
}

/** Names and headers of the files come on top of what they hold. */
const PACK_BYTES_MAX = TREE_BYTES_MAX + 2 * 1024 * 1024;
/** Each holds a tree and its pack in memory. */
const packing = fewAtOnce(4, 100);

/** @param keyPrefix `<workspaceId>/workers/<uid>` or `<workspaceId>/contexts/<uid>` */
export function packTree(objects: ObjectStore, keyPrefix: string, tree: FileTree): Promise<TreePack> {
  return packing(async () => {
    const { zip, digest } = await repack(tree.map(({ path, content, sha }) => ({ path, content, hash: sha })));
    const key = `${keyPrefix}/${digest}.zip`;
    if (!(await objects.head(key))) await objects.put(key, zip, { contentType: 'application/zip' });
    return { digest, key, size: zip.length };
  });
}

/** @throws ObjectMissing */
export function readTree(objects: ObjectStore, { key }: Pick<TreePack, 'key'>): Promise<FileTree> {
  return packing(async () => {
    const files = await readPack(await objects.getBuffer(key, PACK_BYTES_MAX));
    return files.map(({ path, content, hash }) => ({ path, content, size: content.length, sha: hash }));
  });
}
