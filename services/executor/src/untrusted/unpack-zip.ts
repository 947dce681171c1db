import fs from 'node:fs';
import path from 'node:path';
import { readZip, type ZipEntry } from '@gantry/archive';

const LIMITS = { entries: 2_000, bytes: 100 << 20 };

/** @throws BadArchiveError, and errors of the file system; the content of `directory` is then unusable. */
export async function unpackZip(zip: Buffer, directory: string): Promise<void> {
  const created = new Set<string>();
  for (const entry of await readZip(zip, LIMITS)) {
    const target = path.join(directory, entry.path);
    const folder = entry.isDirectory ? target : path.dirname(target);
    if (!created.has(folder)) fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
    created.add(folder);
    if (!entry.isDirectory) await writeEntry(entry, target);
  }
}

/** Checks that unpackZip() would accept a zip, as far as possible without writing. @throws BadArchiveError */
export async function checkZip(zip: Buffer): Promise<void> {
  for (const entry of await readZip(zip, LIMITS)) {
    for await (const _ of entry.chunks());
  }
}

/** Writes with 'wx', and no links are ever created: the target can only be a new file below the directory. */
async function writeEntry(entry: ZipEntry, target: string): Promise<void> {
  const file = await fs.promises.open(target, 'wx', 0o444);
  try {
    for await (const chunk of entry.chunks()) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}
