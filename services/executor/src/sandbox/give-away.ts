import fs from 'node:fs';
import path from 'node:path';
import type { SandboxSettings } from './settings';

/** Where sandboxes run as another uid than this process: lets that uid, and nobody else, own a directory tree. */
export function giveAway(directory: string, { runAs }: Pick<SandboxSettings, 'runAs'>): void {
  if (!runAs) return;
  fs.lchownSync(directory, runAs.uid, runAs.gid);
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const inner = path.join(directory, entry.name);
    if (entry.isDirectory()) giveAway(inner, { runAs });
    else fs.lchownSync(inner, runAs.uid, runAs.gid);
  }
}
