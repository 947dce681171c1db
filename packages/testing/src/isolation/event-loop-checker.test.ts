/** Checks that the measurement sees what it is for. The surfaces themselves: test-isolation.ts. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Call, created, createSurface } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { Pool } from 'pg';
import { pino } from 'pino';
import { createDatabase, type TestDatabase } from '../database';
import { plainHasher } from '../plain-hasher';
import { createEventLoopChecker } from './event-loop-checker';

const openapiFile = path.join(__dirname, 'test/slow.yaml');

let database: TestDatabase;
let pool: Pool;
let server: Server;
let runCheck: ReturnType<typeof createEventLoopChecker>;

beforeAll(async () => {
  database = await createDatabase('automation-api');
  pool = new Pool({ connectionString: database.url });
  const person = { userId: 'usr_1', email: null, emailVerified: false, name: null, tokenId: 'tok_1' };
  const owner: Principal = {
    kind: 'jwt',
    ...person,
    workspaceId: 'ws_a',
    role: 'owner',
    memberships: { ws_a: 'owner' },
  };
  const app = createSurface({
    openapiFile,
    operations: {
      slowPattern: () => created({}),
      slowHandler: ({ body: { names } }: Call<unknown, unknown, { names: string[] }>) => {
        // Compares each with each.
        return created({
          same: names.filter((name) => names.filter((other) => `${other}` === name).length > 1).length,
        });
      },
      quick: () => created({}),
    },
    authenticate: async () => owner,
    errorShape: 'error',
    pool,
    hasher: plainHasher,
    log: pino({ level: 'silent' }),
    rateLimits: { requestsPerMinute: 1e6, runsPerMinute: 1e6, signInsPerMinute: 1e6 },
  });
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  runCheck = createEventLoopChecker({
    openapiFile,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fixtures: {},
    real: {},
    home: { viewer: 'x', member: 'x', admin: 'x', owner: 'x' },
  });
});

afterAll(async () => {
  await runCheck.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await pool.end();
  await database.drop();
});

/** Each hole is tried again and again. */

test('a slow pattern is detected', async () => {
  expect((await runCheck.check('slowPattern')).join('\n')).toMatch(
    /slowPattern, \d+ times " " at name: blocked for \d+ ms/,
  );
});

test('a slow handler is detected', async () => {
  expect((await runCheck.check('slowHandler')).join('\n')).toMatch(
    /slowHandler, \d+ (different|equal) items at names: blocked for/,
  );
});

test('an operation that stays within its bounds is not reported', async () => {
  expect(await runCheck.check('quick')).toEqual([]);
});
