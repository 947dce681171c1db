/** Runs the service against a PostgreSQL that accepts connections and stays silent. */
import { setupResource, startFreezableProxy, waitUntil } from '@gantry/testing';
import { createCaller } from './test/caller';
import { testWorkerApi } from './test/test-worker-api';

/** By plain SQL and by Prisma. */
const PATHS = ['/api/runs', '/api/contexts'];

let postgres: Awaited<ReturnType<typeof startFreezableProxy>>;
const api = testWorkerApi({
  reach: async (databaseUrl) => {
    postgres = await startFreezableProxy(databaseUrl);
    return postgres.url;
  },
  pool: { responseTimeoutMs: 2_000 },
});
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
afterEach(() => postgres.thaw());
afterAll(() => postgres.stop());

test('while PostgreSQL is frozen requests answer 503 with Retry-After, and work once it is thawed', async () => {
  for (const path of PATHS) await owner.get(path).expect(200);
  postgres.freeze();
  for (const path of PATHS) {
    const answer = await owner.get(path);
    expect([path, answer.status, answer.headers['retry-after']]).toEqual([path, 503, '2']);
    expect(answer.text).not.toMatch(/prisma|socket|ECONNRESET|terminated/i);
  }
  expect((await owner.get('/health').expect(503)).body).toEqual({ status: 'unavailable', down: ['postgres'] });
  await owner.get('/healthz').expect(200);

  postgres.thaw();
  await waitUntil(async () => (await owner.get('/health')).status === 200);
  for (const path of PATHS) await owner.get(path).expect(200);
});
