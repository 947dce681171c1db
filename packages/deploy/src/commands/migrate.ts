/**
 * `migrate` applies what a service's database lacks. `migrate status [--wait <seconds>]` names what that is, and ends with 1
 * if it is anything; with --wait, after that time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readEnv } from '@gantry/env';
import { migrate as applyAll, migrationFolders, pendingMigrations, type ServiceName } from '@gantry/platform';
import { z } from 'zod';

const schema = z.object({ DATABASE_URL: z.url() });
const POLL_MS = 500;
/** For a database server that is starting. */
const PATIENCE_S = 60;

export async function migrate(service: ServiceName): Promise<void> {
  const { DATABASE_URL: url } = readEnv(schema);
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { wait: { type: 'string' } } });
  const folders = migrationFolders(service);
  try {
    const outcome =
      positionals[0] === 'status'
        ? await until(
            Number(values.wait ?? 0),
            () => true,
            () => requireAll(url, folders),
          )
        : await until(PATIENCE_S, isUnreachable, () => applyMissing(url, folders));
    process.stdout.write(`${service}: ${outcome}\n`);
  } catch (err) {
    process.stderr.write(`${service}: ${(err as Error).message || (err as { code?: string }).code}\n`);
    process.exitCode = 1;
  }
}

async function applyMissing(url: string, folders: string[]): Promise<string> {
  const { applied, unknown } = await applyAll(url, ...folders);
  const older = unknown.length ? `; this code is older than the database, which also has ${unknown.join(', ')}` : '';
  return `${applied.length ? `applied ${applied.join(', ')}` : 'up to date'}${older}`;
}

async function requireAll(url: string, folders: string[]): Promise<string> {
  const pending = await pendingMigrations(url, ...folders);
  if (pending.length) throw new Error(`pending: ${pending.join(', ')}`);
  return 'up to date';
}

/** The network says so, or a server that is starting (cannot_connect_now). */
const isUnreachable = (err: NodeJS.ErrnoException): boolean =>
  err.syscall !== undefined || err.code === '57P03' || err.code === 'ECONNREFUSED';

async function until<T>(seconds: number, isWorthRetrying: (err: Error) => boolean, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      return await work();
    } catch (err) {
      if (Date.now() >= deadline || !isWorthRetrying(err as Error)) throw err;
      await delay(POLL_MS);
    }
  }
}
