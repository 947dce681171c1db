import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { buildRunArgs, CONTROL_FD, INHERITED_FD, STATUS_FD } from './bwrap-args';
import type { SandboxSettings } from './settings';

/** A bubblewrap process with its control channel, and the pid of the process inside. */
export type BwrapProcess = ReturnType<typeof startBwrap>;

/** Starts bubblewrap with zygote.py. @param inherited descriptors that become those from INHERITED_FD on inside */
export function startRunBwrap(
  settings: SandboxSettings,
  { ctlDir, config, inherited = [] }: { ctlDir?: string; config: object; inherited?: number[] },
) {
  const names = fs
    .readdirSync(settings.etcDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(settings.etcDir, path.join(entry.parentPath, entry.name)));
  const files = names.map((name) => fs.openSync(path.join(settings.etcDir, name), 'r'));
  const etc = { names, firstFile: INHERITED_FD + inherited.length };
  try {
    const args = buildRunArgs(settings, { ctlDir, etc, config });
    return startBwrap(settings, args, settings.zygoteFilterFile, [...inherited, ...files]);
  } finally {
    for (const file of files) fs.closeSync(file);
  }
}

/** @param inherited descriptors that become those from INHERITED_FD on inside */
export function startBwrap(settings: SandboxSettings, args: string[], filterFile: string, inherited: number[] = []) {
  const filterFd = fs.openSync(filterFile, 'r');
  const child = spawn(settings.bwrap, args, {
    ...settings.runAs,
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', filterFd, ...inherited],
  });
  fs.closeSync(filterFd);
  const control = child.stdio[CONTROL_FD] as Duplex;
  const status = child.stdio[STATUS_FD] as Readable;
  let pid: number | undefined;
  const inner = new Promise<number>((resolve, reject) => {
    status.on('data', (text) => {
      pid ??= Number(/"child-pid": (\d+)/.exec(String(text))?.[1]) || undefined;
      if (pid) resolve(pid);
    });
    child.once('close', () => reject(new Error('bubblewrap ended')));
    child.once('error', reject);
  });
  inner.catch(() => {});
  control.on('error', () => {});
  return {
    process: child,
    control,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    /** Returns the first process inside, in this process's pid namespace; undefined until bwrap has reported it. */
    getInnerPid: () => pid,
    /** Resolves once with the pid; rejects if bwrap exits before that. */
    inner,
    // SIGKILL to pid 1 inside: the kernel ends everything with it. Killing the outer bwrap during its set-up leaks
    // processes.
    kill: () => {
      try {
        const target = pid ?? child.pid;
        if (target) process.kill(target, 'SIGKILL');
      } catch {
        // It has already exited.
      }
    },
  };
}
