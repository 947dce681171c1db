/** Runs the service against a real PostgreSQL that accepts no more connections. */
import { setupResource, startMigratedPostgres, waitUntil } from '@gantry/testing';
import { Client } from 'pg';
import { createCaller } from './test/caller';
import { testWorkerApi } from './test/test-worker-api';

const CONNECTIONS_MAX = 15;
const APPLICATION_NAME = 'used-up-connections.test';
/** SQLSTATE of `sorry, too many clients already`. */
const TOO_MANY_CONNECTIONS = '53300';

const postgres = setupResource(
  () => startMigratedPostgres('worker-api', { max_connections: String(CONNECTIONS_MAX) }),
  ({ server }) => server.stop(),
);
const api = testWorkerApi({ reach: () => postgres.url });
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: postgres.url, application_name: APPLICATION_NAME });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Takes every connection, those of the service too; one that is still opening has no application name yet. */
async function exhaustConnections(): Promise<() => Promise<void>> {
  const admin = await connect();
  const clients = [admin];
  await waitUntil(async () => {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND application_name <> $1`,
      [APPLICATION_NAME],
    );
    await connect().then(
      (client) => clients.push(client),
      (err) => expect(err.code).toBe(TOO_MANY_CONNECTIONS),
    );
    return clients.length === CONNECTIONS_MAX;
  });
  return async () => {
    for (const client of clients) await client.end();
  };
}

test('without a free connection requests answer 503 with Retry-After, and work once one is free', async () => {
  const releaseAll = await exhaustConnections();
  // Some paths query by Prisma, others by plain SQL.
  for (const path of ['/api/contexts', '/api/runs', '/auth/sessions']) {
    const answer = await owner.get(path);
    expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '2']);
    expect(answer.text).not.toMatch(/prisma|P2037|53300|clients already/i);
  }
  expect((await owner.get('/health').expect(503)).body).toEqual({ status: 'unavailable', down: ['postgres'] });
  await owner.get('/healthz').expect(200);

  await releaseAll();
  await waitUntil(async () => (await owner.get('/health')).status === 200);
  for (const path of ['/api/contexts', '/api/runs', '/auth/sessions']) await owner.get(path).expect(200);
});
