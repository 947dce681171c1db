/** `npm start` and `npm run dev`: everything from databases to a first finished run, kept running until Ctrl-C. */
import { setAlignedInterval } from '@gantry/env';
import { launch, type Platform } from './launch/launch';
import { createProgress } from './launch/progress';
import { readSettings } from './launch/settings';

/** npm may pass on a signal that the terminal has already delivered: only a later one means impatience. */
const SECOND_SIGNAL_MS = 500;
const PARENT_POLL_MS = 2_500;

const progress = createProgress(Number(process.env.GANTRY_STARTED_AT) || Date.now(), (text) =>
  process.stdout.write(text),
);
let platform: Platform | undefined;
let stoppingSince = 0;

async function main(): Promise<Platform> {
  // Root's helpers run as other users and read what is written for them. What is private has a mode of its own.
  process.umask(0o022);
  // A terminal that is gone must not take the platform down before it has stopped in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  // npm that was killed passes nothing on. Without this, its platform would go on and hold the ports.
  const parent = /^(start|dev)$/.test(process.env.npm_lifecycle_event ?? '') ? process.ppid : undefined;
  platform = launch({ settings: readSettings(process.env), progress, inherited: process.env, parent });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  if (parent !== undefined) stopWhenOrphaned(parent);
  await platform.ready;
  return platform;
}

function stop(reason: string): void {
  if (!stoppingSince) {
    stoppingSince = Date.now();
    void stopInOrder(reason);
  } else if (Date.now() - stoppingSince > SECOND_SIGNAL_MS) {
    platform?.kill();
  }
}

async function stopInOrder(reason: string) {
  progress.step(`stopping (${reason})`);
  await platform?.stop();
  progress.step('stopped');
  process.exit(0);
}

function stopWhenOrphaned(parent: number): void {
  const checking = setAlignedInterval(() => {
    if (process.ppid === parent) return;
    checking.stop();
    stop('npm was killed');
  }, PARENT_POLL_MS);
}

/** Resolves when everything runs; stays pending where that is stopped before. */
export const started: Promise<Platform> = main().catch(async (err) => {
  if (stoppingSince) return new Promise<never>(() => {});
  await platform?.stop();
  process.stderr.write(`\nGantry could not start: ${err.message}\n`);
  return process.exit(1);
});
