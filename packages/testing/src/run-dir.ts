/** The directory of one test run: named after the process, so that the next run can sweep what a killed one left. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isAlive, signalProcess } from '@gantry/platform';
import { listOrphans } from './run-processes';

const PREFIX = 'gantry-test-';

/** Time for processes that a suite has asked to stop, on a busy machine. */
const PROCESS_EXIT_MS_MAX = 30_000;
const PROCESS_EXIT_POLL_MS = 100;

export const RUN_DIR_VARIABLE = 'GANTRY_TEST_DIR';

/** Makes the directory; traversable by everybody, because PostgreSQL and sandboxes run as users of their own. */
export function createRunDir(): string {
  sweepAbandonedRunDirs();
  const dir = path.join(os.tmpdir(), `${PREFIX}${process.pid}`);
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { mode: 0o755 });
  process.env[RUN_DIR_VARIABLE] = dir;
  return dir;
}

/** The directory of the run that this test belongs to. */
export function getRunDir(): string {
  const dir = process.env[RUN_DIR_VARIABLE];
  if (!dir) throw new Error(`${RUN_DIR_VARIABLE} is not set: run tests through the jest.config.js at the root`);
  return dir;
}

/** A fresh directory inside the run's. */
export function createTemporaryDir(name: string): string {
  return fs.mkdtempSync(path.join(getRunDir(), `${name}-`));
}

/**
 * Begins to remove the directory, and ends what still runs in it.
 * @throws Error that names each process which did not end by itself: a suite has left it
 */
export async function removeRunDir(): Promise<void> {
  const dir = getRunDir();
  const deadline = Date.now() + PROCESS_EXIT_MS_MAX;
  let left = listOrphans(dir);
  while (left.length && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, PROCESS_EXIT_POLL_MS));
    left = listOrphans(dir);
  }
  killOrphans(dir);
  // In the background: the databases of a whole run have 300,000 files, which takes ten seconds.
  spawn('rm', ['-rf', dir], { detached: true, stdio: 'ignore' }).unref();
  if (!left.length) return;
  throw new Error(
    `these processes outlived the tests: ${left.map(({ pid, command }) => `${pid} (${command})`).join(', ')}`,
  );
}

function sweepAbandonedRunDirs(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const pid = Number(name.startsWith(PREFIX) && name.slice(PREFIX.length));
    if (!pid || isAlive(pid)) continue;
    const dir = path.join(os.tmpdir(), name);
    killOrphans(dir);
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

function killOrphans(dir: string): void {
  for (const { pid } of listOrphans(dir)) signalProcess(pid, 'SIGKILL');
}
