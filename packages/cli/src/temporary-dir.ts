import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const temporaryDirs = new Set<string>();

const removeDir = (dir: string): void => fs.rmSync(dir, { recursive: true, force: true });

function removeAll(): void {
  for (const dir of temporaryDirs) removeDir(dir);
}

/** Makes a folder that the caller removes, and that the end of this program removes where the caller cannot. */
export function createTemporaryDir(prefix: string, parent = os.tmpdir()): string {
  const dir = fs.mkdtempSync(path.join(parent, prefix));
  if (!temporaryDirs.size) process.once('exit', removeAll);
  temporaryDirs.add(dir);
  return dir;
}

export function removeTemporaryDir(dir: string): void {
  removeDir(dir);
  temporaryDirs.delete(dir);
  if (!temporaryDirs.size) process.removeListener('exit', removeAll);
}
