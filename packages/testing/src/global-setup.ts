/** One PostgreSQL for the whole run, in a directory that the teardown removes. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { buildPostgresSpec, buildPostgresUrl, startAndWait } from '@gantry/platform';
import { POSTGRES_VARIABLE } from './database';
import { reserveFreePort } from './free-port';
import { createRunDir } from './run-dir';
import { setRunningPostgres } from './running-postgres';
import { ensureTestTools } from './test-tools';

export default async function globalSetup(): Promise<void> {
  const dataDir = path.join(createRunDir(), 'postgres');
  const options = { dataDir, port: await reserveFreePort(), password: randomBytes(16).toString('hex'), durable: false };
  const start = async () => {
    const spec = await buildPostgresSpec(options);
    // Every Jest worker starts services of its own, each with its pools.
    setRunningPostgres(await startAndWait({ ...spec, args: [...spec.args, '-c', 'max_connections=400'] }));
  };
  await Promise.all([ensureTestTools(addToPath), start()]);
  process.env[POSTGRES_VARIABLE] = buildPostgresUrl(options, 'postgres');
}

function addToPath(file: string): void {
  process.env.PATH = `${path.dirname(file)}${path.delimiter}${process.env.PATH}`;
}
