/**
 * Before an executor starts: where credentials were made in advance, one that has none takes one out of the stock. So
 * each replica has an identity of its own, and none holds the key that makes executors.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

export function joinInstallation(env: NodeJS.ProcessEnv = process.env): void {
  const { EXECUTOR_STOCK: stock, EXECUTOR_DIR: dir } = env;
  if (!stock || !dir) return;
  try {
    claimCredentials(stock, dir);
  } catch (err) {
    process.stderr.write(`This executor can't start: ${(err as Error).message}\n`);
    process.exit(1);
  }
}

/** @throws Error if none is left */
export function claimCredentials(poolDir: string, dir: string): void {
  const credentials = path.join(dir, 'nats.creds');
  if (fs.existsSync(credentials)) return;
  const taken = claimCredentialsFile(poolDir);
  fs.copyFileSync(taken, `${credentials}.new`);
  fs.renameSync(`${credentials}.new`, credentials);
  fs.rmSync(taken);
}

/** Renaming succeeds for one of those who try at the same moment. */
function claimCredentialsFile(stock: string): string {
  for (const name of fs.readdirSync(stock).filter((each) => each.endsWith('.creds'))) {
    const taken = path.join(stock, `${name}.${randomBytes(8).toString('hex')}`);
    try {
      fs.renameSync(path.join(stock, name), taken);
      return taken;
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
    }
  }
  throw new Error(`${stock} has no credentials left; run "docker compose run --rm generate" to create new ones`);
}
