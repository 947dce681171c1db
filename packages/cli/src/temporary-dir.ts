import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const present = new Set<string>();

const remove = (dir: string): void => fs.rmSync(dir, { recursive: true, force: true });

function removeAll(): void {
  for (const dir of present) remove(dir);
}

/** Makes a folder that the caller removes, and that the end of this program removes where the caller cannot. */
export function createTemporaryDir(prefix: string, parent = os.tmpdir()): string {
  const dir = fs.mkdtempSync(path.join(parent, prefix));
  if (!present.size) process.once('exit', removeAll);
  present.add(dir);
  return dir;
}

export function removeTemporaryDir(dir: string): void {
  remove(dir);
  present.delete(dir);
  if (!present.size) process.removeListener('exit', removeAll);
}
