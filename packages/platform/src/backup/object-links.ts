/** A second set of names for the objects of a file store, which stays whole while the platform deletes some of them. */
import { link, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';

/** Objects never change, so a second name is as good as a copy. May be called again for what has come meanwhile. */
export async function linkObjects(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true }).catch(ignoreErrorCodes<never[]>([], 'ENOENT'))) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== '.partial') await linkObjects(source, target);
    } else {
      // Deleted a moment ago, or linked before.
      await link(source, target).catch(ignoreErrorCodes(undefined, 'ENOENT', 'EEXIST'));
    }
  }
}

const ignoreErrorCodes =
  <T>(value: T, ...codes: string[]) =>
  (err: NodeJS.ErrnoException): T => {
    if (codes.includes(err.code ?? '')) return value;
    throw err;
  };

/** Keys of all objects below a directory. */
export async function* listObjects(dir: string, prefix = ''): AsyncGenerator<string> {
  for (const entry of await readdir(path.join(dir, prefix), { withFileTypes: true })) {
    const key = prefix ? `${prefix}/${entry.name}` : entry.name;
    if (entry.isDirectory()) yield* listObjects(dir, key);
    else yield key;
  }
}
