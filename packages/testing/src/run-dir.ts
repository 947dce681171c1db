/** The directory of one test run: named after the process, so that the next run can sweep what a killed one left. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isAlive, signalGroup } from '@gantry/platform';

const PREFIX = 'gantry-test-';

export const RUN_DIR_VARIABLE = 'GANTRY_TEST_DIR';

/** Makes the directory; traversable by everybody, because PostgreSQL and sandboxes run as users of their own. */
export function beginRun(): string {
  sweepDeadRuns();
  const dir = path.join(os.tmpdir(), `${PREFIX}${process.pid}`);
  fs.rmSync(dir, { recursive: true, force: true });
  fs.mkdirSync(dir, { mode: 0o755 });
  process.env[RUN_DIR_VARIABLE] = dir;
  return dir;
}

/** The directory of the run that this test belongs to. */
export function runDir(): string {
  const dir = process.env[RUN_DIR_VARIABLE];
  if (!dir) throw new Error(`${RUN_DIR_VARIABLE} is not set: run tests through the jest.config.js at the root`);
  return dir;
}

/** A fresh directory inside the run's. */
export function temporaryDir(name: string): string {
  return fs.mkdtempSync(path.join(runDir(), `${name}-`));
}

export function endRun(): void {
  fs.rmSync(runDir(), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

function sweepDeadRuns(): void {
  for (const name of fs.readdirSync(os.tmpdir())) {
    const pid = Number(name.startsWith(PREFIX) && name.slice(PREFIX.length));
    if (!pid || isAlive(pid)) continue;
    const dir = path.join(os.tmpdir(), name);
    endPostgres(path.join(dir, 'postgres/postmaster.pid'));
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

function endPostgres(pidFile: string): void {
  if (!fs.existsSync(pidFile)) return;
  const pid = Number(fs.readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (pid > 1) signalGroup(pid, 'SIGKILL');
}
