/** Places outside `.data/` for root, whose helpers run as other users that may not enter a private directory. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const checkoutDir = path.resolve(__dirname, '../../../..');

/**
 * Directory for files of root that a dropped user must be able to reach, which it could not below a home of mode 0700.
 * Holds nothing that can't be made again, so deleting it is safe.
 */
export function getSharedDir(): string {
  for (const parent of ['/var/lib', os.tmpdir()]) {
    const dir = path.join(parent, 'gantry');
    try {
      fs.mkdirSync(dir, { recursive: true, mode: 0o755 });
      // In a directory that every user may write to, another user may have been first.
      if (fs.statSync(dir).uid === process.getuid?.()) return dir;
    } catch {
      // Read-only: the next one.
    }
  }
  return fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-'));
}

/** Fetched programs. The sandbox is started by a dropped user, so root's lie where everybody can read them. */
export function getToolsDir(): string {
  return process.getuid?.() === 0 ? path.join(getSharedDir(), 'tools') : path.join(checkoutDir, '.data/tools');
}
