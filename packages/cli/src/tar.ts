/** Folders as one file. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError, EXIT, usageError } from './errors';
import type { LocalFile } from './worker-folder';

const LIMITS = { entries: 50_000, bytes: 512 * 1024 * 1024 };

/** In place of the name of a file: stdout or stdin. */
export const STANDARD_STREAM = '-';

/** The same files give the same bytes. A write that is interrupted leaves the file as it was. */
export async function writeTar(file: string, files: LocalFile[]): Promise<void> {
  const { pack } = await import('tar-stream');
  const archive = pack();
  for (const { path: name, content } of files) archive.entry({ name, mode: 0o644, mtime: new Date(0) }, content);
  archive.finalize();
  if (file === STANDARD_STREAM) return pipeline(archive, process.stdout, { end: false });
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await pipeline(archive, createWriteStream(temporary, { flags: 'wx' }));
    await fs.rename(temporary, file);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

async function openTar(file: string): Promise<Readable> {
  if (file === STANDARD_STREAM) return process.stdin;
  const opened = await fs.open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw usageError(`${path.resolve(file)} not found`);
    throw new CommandError(`cannot read ${file}: ${error.message}`, EXIT.failed);
  });
  return opened.createReadStream();
}

/** Unpacks a tar of a stranger below a folder. @throws CommandError that names the entry */
export async function extractTar(file: string, dir: string): Promise<void> {
  const [{ extract }, { findPathProblem }] = await Promise.all([import('tar-stream'), import('@gantry/archive')]);
  const createTarError = (name: string, problem: string) =>
    new CommandError(`${file}: ${JSON.stringify(name.slice(0, 200))} ${problem}`, EXIT.failed);
  let [entries, bytes] = [0, 0];
  const archive = extract();
  const reading = pipeline(await openTar(file), archive);
  // Handled below: an entry that is refused ends the reading with the same error.
  reading.catch(() => {});
  try {
    for await (const entry of archive) {
      const { type, size = 0 } = entry.header;
      const name = entry.header.name.replace(/^\.\//, '').replace(/\/$/, '');
      if (++entries > LIMITS.entries)
        throw createTarError(name, `is beyond the limit of ${LIMITS.entries} entries for the whole archive`);
      if (type === 'directory') {
        entry.resume();
        continue;
      }
      const problem = type === 'file' ? findPathProblem(name) : 'is a link or a special file';
      if (problem) throw createTarError(name, problem);
      bytes += size;
      if (bytes > LIMITS.bytes)
        throw createTarError(name, `is beyond the limit of ${LIMITS.bytes / 1024 / 1024} MB for the whole archive`);
      const target = path.join(dir, name);
      await fs.mkdir(path.dirname(target), { recursive: true });
      // A name that is there already is refused: two spellings may be one file.
      await fs.writeFile(target, entry, { flag: 'wx' });
    }
    await reading;
  } catch (error) {
    archive.destroy();
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} is not a readable tar archive: ${(error as Error).message}`, EXIT.failed);
  }
}
