import fs from 'node:fs';
import path from 'node:path';
import type { SandboxSettings } from './settings';

/** Makes the sandboxes' uid, if it differs from this process's, the sole owner of a directory tree. */
export function chownToSandbox(directory: string, { runAs }: Pick<SandboxSettings, 'runAs'>): void {
  if (runAs) chownTree(directory, runAs);
}

/** Reverses that, once no process of that uid works there any more: runs must not own files that other runs see. */
export function chownToExecutor(directory: string, { runAs }: Pick<SandboxSettings, 'runAs'>): void {
  if (runAs) chownTree(directory, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
}

/** Changes the owner of a tree; links are not followed. */
function chownTree(directory: string, owner: { uid: number; gid: number }): void {
  fs.lchownSync(directory, owner.uid, owner.gid);
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const inner = path.join(directory, entry.name);
    if (entry.isDirectory()) chownTree(inner, owner);
    else fs.lchownSync(inner, owner.uid, owner.gid);
  }
}
