/** JSON files of this program, written as a whole or not at all. */
import fs from 'node:fs';
import path from 'node:path';

/** @returns null where there is none. @throws SyntaxError for a file that is no JSON object */
export function readStateFile(file: string): Record<string, unknown> | null {
  let content: string;
  try {
    content = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const value: unknown = JSON.parse(content);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no JSON object');
  return value as Record<string, unknown>;
}

/** Readable by its owner alone. A concurrent reader gets the old file or the new one. */
export function writeStateFile(file: string, value: object): void {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${crypto.randomUUID()}`;
  try {
    fs.writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    fs.renameSync(temporary, file);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}
