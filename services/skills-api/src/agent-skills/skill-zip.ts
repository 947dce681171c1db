/** A skill as the folder that agents install: `<slug>/SKILL.md` in a zip, both ways. */
import { buffer } from 'node:stream/consumers';
import { AppError } from '@gantry/http';
import * as yauzl from 'yauzl';
import * as yazl from 'yazl';
import { BODY_BYTES_MAX } from '../skills/skill';

export const ZIP_BYTES_MAX = 1024 * 1024;
const ENTRIES_MAX = 200;

/** The same skill gives the same bytes. */
export function zipSkill(slug: string, skillMd: string, at: Date): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  zip.addBuffer(Buffer.from(skillMd), `${slug}/SKILL.md`, { mtime: at, mode: 0o100644, forceDosTimestamp: true });
  zip.end();
  return buffer(zip.outputStream);
}

/**
 * The SKILL.md at the top of the zip or in its only folder. Nothing is written to disk, and sizes in headers are not believed.
 * @returns its text, and the names of the other files
 * @throws AppError 400 `bad_zip`, 413
 */
export async function readSkillZip(zip: Buffer): Promise<{ body: string; others: string[] }> {
  const archive = await yauzl
    .fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true, validateEntrySizes: true })
    .catch((err) => {
      throw badZip(err.message, err);
    });
  const others: string[] = [];
  let body: string | undefined;
  let entries = 0;
  try {
    for await (const entry of archive.eachEntry()) {
      if (++entries > ENTRIES_MAX) throw badZip(`it has more than ${ENTRIES_MAX} entries`);
      const name = entry.fileName;
      if (name.endsWith('/')) continue;
      if (!/^(?:[^/]+\/)?SKILL\.md$/.test(name)) {
        others.push(name);
        continue;
      }
      if (body !== undefined) throw badZip('it has more than one SKILL.md');
      body = await readText(archive, entry);
    }
  } catch (err) {
    if (err instanceof AppError) throw err;
    throw badZip((err as Error).message, err);
  } finally {
    archive.close();
  }
  if (body === undefined) throw badZip('it has no SKILL.md at its top or in its only folder');
  return { body, others };
}

async function readText(archive: yauzl.ZipFile, entry: yauzl.Entry): Promise<string> {
  const stream = await archive.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) {
      stream.destroy();
      throw new AppError('too_large', 'too_large', `bundle: SKILL.md has more than ${BODY_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size));
  } catch (err) {
    throw badZip('SKILL.md is not UTF-8', err);
  }
}

const badZip = (why: string, cause?: unknown) =>
  new AppError('invalid', 'bad_zip', `bundle: not a zip of a skill: ${why}`, {
    cause,
    fields: [{ path: 'bundle', message: why }],
  });
