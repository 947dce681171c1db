/** One PostgreSQL for the whole run, in a directory that the teardown removes. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { buildPostgresSpec, postgresUrl, startAndWait } from '@gantry/platform';
import { POSTGRES_VARIABLE } from './database';
import { freePort } from './free-port';
import { beginRun } from './run-dir';
import { remember } from './running-postgres';
import { obtainTestTools } from './test-tools';

export default async function globalSetup(): Promise<void> {
  const dataDir = path.join(beginRun(), 'postgres');
  const options = { dataDir, port: await freePort(), password: randomBytes(16).toString('hex'), durable: false };
  const start = async () => {
    const spec = await buildPostgresSpec(options);
    // Every Jest worker starts services of its own, each with its pools.
    remember(await startAndWait({ ...spec, args: [...spec.args, '-c', 'max_connections=400'] }));
  };
  await Promise.all([obtainTestTools(addToPath), start()]);
  process.env[POSTGRES_VARIABLE] = postgresUrl(options, 'postgres');
}

function addToPath(file: string): void {
  process.env.PATH = `${path.dirname(file)}${path.delimiter}${process.env.PATH}`;
}
