import path from 'node:path';
import { createTemporaryDir, reserveFreePort, waitUntil } from '@gantry/testing';
import { Client } from 'pg';
import { buildPostgresSpec, buildPostgresUrl } from '../postgres/postgres';
import { databases } from '../service-names';
import { type RunningProcess, startAndWait } from '../supervise/process';
import { queryDatabase } from '../test/query-database';
import { findRunningPostgres } from './temporary-postgres';

const CONNECTIONS_MAX = 6;
const PASSWORD = 'of-the-superuser';

let dataDir: string;
let url: string;
let server: RunningProcess;

beforeAll(async () => {
  dataDir = createTemporaryDir('own-postgres');
  const options = {
    dataDir: path.join(dataDir, 'postgres'),
    port: await reserveFreePort(),
    password: PASSWORD,
    durable: false,
  };
  url = buildPostgresUrl(options, databases['worker-api'].name);
  const spec = await buildPostgresSpec(options);
  server = await startAndWait({ ...spec, args: [...spec.args, '-c', `max_connections=${CONNECTIONS_MAX}`] });
  await queryDatabase(buildPostgresUrl(options, 'postgres'), `CREATE DATABASE ${databases['worker-api'].name}`);
});
afterAll(() => server.stop());

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

test('a PostgreSQL without a free connection is reported, and found once one is free', async () => {
  const clients: Client[] = [];
  // A backend frees its slot a moment after its client has left.
  while (clients.length < CONNECTIONS_MAX) clients.push(await waitUntil(() => connect().catch(() => undefined)));
  const problem = await findRunningPostgres(dataDir, PASSWORD).catch((err: Error) => err);
  for (const client of clients) await client.end();
  expect(String(problem)).toMatch(/no free connections/);
  const addressOf = await waitUntil(() => findRunningPostgres(dataDir, PASSWORD).catch(() => undefined));
  expect(addressOf('worker-api')).toBe(url);
});

test('no PostgreSQL is found in a directory that has none', async () => {
  expect(await findRunningPostgres(createTemporaryDir('no-postgres'), PASSWORD)).toBeUndefined();
});
