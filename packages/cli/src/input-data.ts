import fs from 'node:fs/promises';
import { usageError } from './errors';
import { readStdin } from './stdin';

/** A request of JSON is no larger. */
const BYTES_MAX = 1024 * 1024;

/** The text itself, or of `@file` its content, or of `@-` what stdin holds. @throws CommandError */
export async function readInput(value: string): Promise<Buffer> {
  if (!value.startsWith('@')) return Buffer.from(value);
  if (value === '@-') return Buffer.from(await readStdin(BYTES_MAX));
  const file = value.slice(1);
  const content = await fs.readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`cannot read ${file}: ${error.code === 'ENOENT' ? 'no such file' : error.message}`);
  });
  if (content.length > BYTES_MAX) throw usageError(`${file} is larger than ${BYTES_MAX} bytes`);
  return content;
}
