/** Working directories of processes that run as another user than we do. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { getSharedDir } from './shared-dir';

/** File in each directory of an instance that says whose it is. */
const ORIGIN = 'data-dir';

/** Below `.data/`, or for root, whose helpers may not enter there, at a place named after it. */
export function toReachableDir(dataDir: string, name: string): string {
  if (process.getuid?.() !== 0) return path.join(dataDir, name);
  const real = fs.realpathSync(dataDir);
  const instance = path.join(getSharedDir(), 'instances', createHash('sha256').update(real).digest('hex').slice(0, 12));
  fs.mkdirSync(instance, { recursive: true, mode: 0o755 });
  // Whatever umask it was made under.
  fs.chmodSync(instance, 0o755);
  fs.writeFileSync(path.join(instance, ORIGIN), real);
  return path.join(instance, name);
}

/** Removes the directories of data directories that are gone. */
export function sweepReachableDirs(): void {
  const instances = path.join(getSharedDir(), 'instances');
  if (process.getuid?.() !== 0 || !fs.existsSync(instances)) return;
  for (const name of fs.readdirSync(instances)) {
    const origin = path.join(instances, name, ORIGIN);
    if (fs.existsSync(origin) && !fs.existsSync(fs.readFileSync(origin, 'utf8'))) {
      fs.rmSync(path.join(instances, name), { recursive: true, force: true });
    }
  }
}
