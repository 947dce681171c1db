import fs from 'node:fs';
import path from 'node:path';
import type { SandboxSettings } from './settings';

/** Where sandboxes run as another uid than this process: lets that uid, and nobody else, own a directory tree. */
export function giveAway(directory: string, { runAs }: Pick<SandboxSettings, 'runAs'>): void {
  if (runAs) own(directory, runAs);
}

/** The other way round, once no process of that uid works there any more: what runs then see is not theirs. */
export function takeBack(directory: string, { runAs }: Pick<SandboxSettings, 'runAs'>): void {
  if (runAs) own(directory, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
}

/** Links are not followed. */
function own(directory: string, owner: { uid: number; gid: number }): void {
  fs.lchownSync(directory, owner.uid, owner.gid);
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const inner = path.join(directory, entry.name);
    if (entry.isDirectory()) own(inner, owner);
    else fs.lchownSync(inner, owner.uid, owner.gid);
  }
}
