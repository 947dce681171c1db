/** A file system of a few megabytes, to be filled. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { findTool } from '@gantry/platform';
import { createTemporaryDir } from './run-dir';
import { assertTestTool } from './test-tools';

export interface SmallDisk {
  /** A directory on it, which any process of this user can open until the disk is removed. */
  dir: string;
  /** Takes all of its space, until the result is called. */
  fill(): () => void;
  remove(): Promise<void>;
}

const BLOCK = Buffer.alloc(4_096, 1);

/** Mounted in a sandbox, which needs no root, and opened from outside through its process. */
export async function createSmallDisk(bytes: number): Promise<SmallDisk> {
  assertTestTool('bwrap');
  const mountPoint = createTemporaryDir('disk');
  const mounts = ['--dev-bind', '/', '/', '--size', String(bytes), '--tmpfs', mountPoint, '--die-with-parent'];
  const holder = spawn(findTool('bwrap') as string, [...mounts, 'sh', '-c', 'echo $$; exec sleep infinity'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => holder.once('exit', resolve));
  const pid = await new Promise<number>((resolve, reject) => {
    holder.stdout.once('data', (line) => resolve(Number(line)));
    holder.once('error', reject);
    holder.once('exit', (code) => reject(new Error(`no file system of its own: bwrap ended with ${code}`)));
  });
  const dir = path.join('/proc', String(pid), 'root', mountPoint);
  return {
    dir,
    fill: () => {
      const file = path.join(dir, 'filler');
      fillDisk(file);
      return () => fs.rmSync(file);
    },
    remove: async () => {
      process.kill(pid, 'SIGKILL');
      await ended;
    },
  };
}

function fillDisk(file: string): void {
  const opened = fs.openSync(file, 'w');
  try {
    for (;;) fs.writeSync(opened, BLOCK);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOSPC') throw err;
  } finally {
    fs.closeSync(opened);
  }
}
