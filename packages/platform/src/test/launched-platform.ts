/** The built platform, started as `npm start` does, in any data directory. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { slowPoolEnv, waitUntil } from '@gantry/testing';
import { checkoutDir } from '../dirs/shared-dir';
import type { LocalAccess } from '../launch/local-state';
import { collectOutput } from '../supervise/collect-output';

/** Shorter than the limit of a test, so that a start that hangs is named. */
export const START_MS = 240_000;

export type LaunchedPlatform = Awaited<ReturnType<typeof launchPlatform>>;

const environment = (dataDir: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  GANTRY_DATA_DIR: dataDir,
  ...slowPoolEnv,
  ...env,
});

export async function launchPlatform(dataDir: string, env: NodeJS.ProcessEnv = {}) {
  const port = String(await freeRange());
  const child = spawn(process.execPath, [path.join(checkoutDir, 'packages/platform/dist/main.js')], {
    env: environment(dataDir, { GANTRY_PORT: port, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const isSettled = () => child.exitCode !== null || output().includes('Gantry is running');
  await waitUntil(isSettled, { deadlineMs: START_MS, everyMs: 50, what: 'the platform runs' });
  if (child.exitCode !== null) throw new Error(output());
  return {
    dataDir,
    local: JSON.parse(fs.readFileSync(path.join(dataDir, 'local.json'), 'utf8')) as LocalAccess,
    /** Everything that it has reported since its start. */
    problems: () => listProblems(output()),
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}

/** The lines of a launcher's output that pass on a warning or an error of a process. */
export const listProblems = (output: string): string[] =>
  output.split('\n').filter((line) => /\b(warning|error): /i.test(line));

/** Runs a program of the platform to its end. */
export async function runProgram(dataDir: string, command: string[], env: NodeJS.ProcessEnv = {}) {
  const [file, ...args] = command as [string, ...string[]];
  const child = spawn(file, args, { env: environment(dataDir, env), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output: output() };
}

/** The first port of 120 that are free where the platform will listen. */
export async function freeRange(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const wanted = [0, 1, 2, 100, 101, 102, 105, 106, 107, 110, 111, 112, 113];
    const free = await Promise.all(wanted.map((offset) => isFree(first + offset)));
    if (free.every(Boolean)) return first;
  }
}

export function isFree(candidate: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer().once('error', () => resolve(false));
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
