/**
 * `migrate` applies what a service's database lacks. `migrate status [--wait <seconds>]` lists its migrations, and ends
 * with 0 only if this code can work with the database; it asks again for that long.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readEnv } from '@gantry/env';
import {
  migrate as applyAll,
  describeMigration,
  listServiceMigrationFolders,
  reportMigrations,
  type ServiceName,
} from '@gantry/platform';
import { z } from 'zod';

const schema = z.object({ DATABASE_URL: z.url() });
const POLL_MS = 500;
/** Time that a database server may take to start. */
const TIMEOUT_S = 60;

export async function migrate(service: ServiceName): Promise<void> {
  const { DATABASE_URL: url } = readEnv(schema);
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { wait: { type: 'string' } } });
  const folders = listServiceMigrationFolders(service);
  try {
    process.exitCode =
      positionals[0] === 'status'
        ? await waitForMigrations(url, folders, Number(values.wait ?? 0))
        : await retryUntil(TIMEOUT_S, isUnreachable, () => applyPendingMigrations(service, url, folders));
  } catch (err) {
    process.stderr.write(`${service}: ${(err as Error).message || (err as { code?: string }).code}\n`);
    process.exitCode = 1;
  }
}

async function applyPendingMigrations(service: ServiceName, url: string, folders: string[]): Promise<number> {
  process.stdout.write(`${describeMigration(service, await applyAll(url, ...folders))}\n`);
  return 0;
}

async function waitForMigrations(url: string, folders: string[], seconds: number): Promise<number> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const left = (deadline - Date.now()) / 1_000;
    const { lines, exitCode } = await retryUntil(
      left,
      () => true,
      () => reportMigrations(url, ...folders),
    );
    if (exitCode === 0 || left <= 0) {
      process.stdout.write(`${lines.join('\n')}\n`);
      return exitCode;
    }
    await delay(POLL_MS);
  }
}

/** The network says so, or a server that is starting (cannot_connect_now). */
const isUnreachable = (err: NodeJS.ErrnoException): boolean =>
  err.syscall !== undefined || err.code === '57P03' || err.code === 'ECONNREFUSED';

async function retryUntil<T>(
  seconds: number,
  isRetryable: (err: Error) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      return await work();
    } catch (err) {
      if (Date.now() >= deadline || !isRetryable(err as Error)) throw err;
      await delay(POLL_MS);
    }
  }
}
