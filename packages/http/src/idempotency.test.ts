import { createHash, createHmac, randomUUID } from 'node:crypto';
import path from 'node:path';
import { notFound, unavailable } from '@gantry/errors';
import { sweepIdempotencyKeys } from '@gantry/limits';
import { createPool, transaction } from '@gantry/postgres';
import { createDatabase, type TestDatabase, terminateConnections, waitUntil } from '@gantry/testing';
import type { Express, Request } from 'express';
import type { Pool } from 'pg';
import { pino } from 'pino';
import request from 'supertest';
import { type Call, created, type Handler, type IdempotentHandler, ok } from './handler';
import { createSurface } from './surface';

interface Replica {
  app: Express;
  pool: Pool;
}

let database: TestDatabase;
let pool: Pool;
let one: Replica;
let two: Replica;
/** Called by the handler around the transaction that creates a thing. */
let beforeCreate: () => Promise<void>;
let afterCommit: (req: Request) => Promise<void>;
let isVisible: (id: string) => boolean;
let shouldMark: boolean;

const log = pino({ level: 'silent' });
const openPool = () => createPool(database.url, { service: 'things', log });
const hmac = (text: string) => createHmac('sha256', 'pepper').update(text).digest();

beforeAll(async () => {
  database = await createDatabase('automation-api');
  pool = openPool();
  await pool.query('CREATE TABLE things (id text PRIMARY KEY, made_by text NOT NULL)');
  [one, two] = [replica(), replica()];
  // The first request compiles the OpenAPI file.
  for (const { app } of [one, two]) await request(app).post('/api/things').send({});
});

afterAll(async () => {
  for (const each of [one.pool, two.pool, pool]) await each.end();
  await database.drop();
});

beforeEach(async () => {
  beforeCreate = async () => {};
  afterCommit = async () => {};
  isVisible = () => true;
  shouldMark = true;
  await pool.query('TRUNCATE things, idempotency_keys');
});

function replica(): Replica {
  const replicaPool = openPool();
  const createThing = async ({ caller, markCreated, req }: Call) => {
    await beforeCreate();
    const id = `thing-${randomUUID()}`;
    await transaction(replicaPool, async (tx) => {
      await tx.query('INSERT INTO things (id, made_by) VALUES ($1, $2)', [id, caller.userId]);
      if (shouldMark) await markCreated(tx, id);
    });
    await afterCommit(req);
    return created({ id, secret: `secret of ${id}` }, { Location: `/api/things/${id}` });
  };
  const assertVisible = (_call: Call, id: string) => {
    if (!isVisible(id)) throw notFound('thing', id);
  };
  const idempotentHandler: IdempotentHandler<Call> = {
    create: createThing,
    assertVisible,
    answer: (_call, id) => created({ id, again: true }),
  };
  const app = createSurface({
    openapiFile: path.join(__dirname, 'test/keyed.yaml'),
    operations: {
      makeThing: idempotentHandler,
      makeOtherThing: { create: createThing, assertVisible },
      makeSecretThing: idempotentHandler,
      makeAccountThing: idempotentHandler,
    },
    // `Bearer <user> <workspace> <token>`
    authenticate: async (req) => {
      const [, userId = null, workspaceId = 'ws_a', tokenId = null] = req.get('Authorization')?.split(' ') ?? [];
      const names = { userId, tokenId, email: null, emailVerified: false, name: null };
      return { kind: 'session', ...names, workspaceId, role: 'member', memberships: { [workspaceId]: 'member' } };
    },
    errorShape: 'error',
    pool: replicaPool,
    hasher: { hash: (text) => ({ hash: hmac(text) }), candidates: (text) => [hmac(text)] },
    log,
    rateLimits: { requestsPerMinute: 1e6, runsPerMinute: 1e6, signInsPerMinute: 1e6 },
    validateResponses: true,
  });
  return { app, pool: replicaPool };
}

interface SendOptions {
  key?: string;
  to?: Replica;
  as?: string;
  what?: string;
  body?: object;
}
const send = ({ key = 'k', to = one, as = 'usr_1', what = 'things', body = {} }: SendOptions = {}) =>
  request(to.app).post(`/api/${what}`).set('Authorization', `Bearer ${as}`).set('Idempotency-Key', key).send(body);

const listThingIds = async () => (await pool.query('SELECT id FROM things')).rows.map(({ id }) => id);
const getKeyRow = async () => (await pool.query('SELECT * FROM idempotency_keys')).rows[0];
/** Expires the lease as if its process had died. */
const expireLease = () => pool.query("UPDATE idempotency_keys SET lease_until = now() - interval '1 second'");

/** Creates a gate that a handler waits at until it is opened. */
function createGate() {
  let openGate: () => void = () => {};
  let resolveReached: () => void = () => {};
  const waiting = new Promise<void>((resolve) => {
    resolveReached = resolve;
  });
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  const waitAtGate = async () => {
    resolveReached();
    await gate;
  };
  return { hold: waitAtGate, waiting, goOn: openGate };
}

test('a repeated request creates nothing and replays the first response with its headers', async () => {
  const first = await send({ body: { name: 'a' } }).expect(201);
  const again = await send({ body: { name: 'a' }, to: two }).expect(201);
  expect(again.body).toEqual(first.body);
  expect(again.headers.location).toBe(first.headers.location);
  expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
  expect(await listThingIds()).toHaveLength(1);
});

test('a key with another body is a 422, and an invalid key is a 400', async () => {
  await send({ body: { name: 'a' } }).expect(201);
  expect((await send({ body: { name: 'b' } }).expect(422)).body.code).toBe('idempotency_mismatch');
  expect((await send({ key: 'with spaces' }).expect(400)).body.code).toBe('invalid_idempotency_key');
  expect(await listThingIds()).toHaveLength(1);
});

test('a key belongs to one user, one workspace and one operation', async () => {
  const answers = [
    await send(),
    await send({ as: 'usr_2' }),
    await send({ as: 'usr_1 ws_b' }),
    await send({ what: 'other-things' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4);
  expect((await send({ as: 'usr_1 ws_a tok_other' })).body).toEqual(answers[0]?.body);
});

test('an account resource is created once, whichever workspace is selected in between', async () => {
  const first = await send({ what: 'account-things' }).expect(201);
  expect((await send({ what: 'account-things', as: 'usr_1 ws_b' }).expect(201)).body).toEqual(first.body);
});

test('a concurrent repeat is a 409 on every replica for as long as the request takes', async () => {
  const { hold: waitAtGate, waiting, goOn: openGate } = createGate();
  beforeCreate = waitAtGate;
  const first = send();
  const answered = first.then((answer) => answer);
  await waiting;
  const { lease_until: lease } = await getKeyRow();
  const refused = await send({ to: two }).expect(409);
  expect(refused.body.code).toBe('in_flight');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  await waitUntil(async () => (await getKeyRow()).lease_until > lease, { what: 'the lease is renewed' });
  openGate();
  const { body } = await answered;
  expect((await send({ to: two })).body).toEqual(body);
});

test('of many simultaneous requests on two replicas, one creates a resource', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send({ to: n % 2 ? one : two })));
  expect(await listThingIds()).toHaveLength(1);
  for (const { status, body } of answers) {
    if (status === 201) expect([body.id]).toEqual(await listThingIds());
    else expect([status, body.code]).toEqual([409, 'in_flight']);
  }
});

test('a request whose process died before creating anything is executed once the lease expires', async () => {
  await pool.query(
    `INSERT INTO idempotency_keys (scope, operation, key, request_hash, claim, lease_until)
     VALUES ('usr_1 ws_a', 'makeThing', 'k', $1, 'of a dead process', now() + interval '1 minute')`,
    [
      hmac(
        `request ${createHash('sha256')
          .update(JSON.stringify(['POST', '/api/things', {}, {}]))
          .digest('hex')}`,
      ),
    ],
  );
  expect((await send().expect(409)).body.code).toBe('in_flight');
  await expireLease();
  await send({ body: { name: 'another' } }).expect(422);
  await send().expect(201);
});

test('a 503 after the commit creates no duplicate: a retry returns the created resource', async () => {
  afterCommit = async () => {
    throw unavailable('a service that this needs', new Error('gone'));
  };
  await send().expect(503);
  const [id] = await listThingIds();
  const again = await send({ to: two }).expect(201);
  expect(again.body).toEqual({ id, again: true });
  expect((await send()).body).toEqual(again.body);
  expect(await listThingIds()).toEqual([id]);
});

test('a 503 before the commit leaves the key free for a retry', async () => {
  beforeCreate = async () => {
    throw unavailable('a service that this needs', new Error('gone'));
  };
  await send().expect(503);
  beforeCreate = async () => {};
  await send().expect(201);
  expect(await listThingIds()).toHaveLength(1);
});

test('a response that cannot be stored is still sent, and a retry finds the resource', async () => {
  const doomed = replica();
  afterCommit = () => doomed.pool.end();
  await send({ to: doomed }).expect(201);
  afterCommit = async () => {};
  expect((await send().expect(409)).body.code).toBe('in_flight');
  await expireLease();
  const [id] = await listThingIds();
  expect((await send().expect(201)).body).toEqual({ id, again: true });
  expect(await listThingIds()).toEqual([id]);
});

test('database connections cut in mid-request never create a duplicate', async () => {
  const keys = Array.from({ length: 30 }, (_, n) => `cut-${n}`);
  const cutting = (async () => {
    for (let n = 0; n < 6; n++) await terminateConnections(database);
  })();
  const settled = keys.map((key, n) =>
    waitUntil(async () => (await send({ key, to: n % 2 ? one : two })).status === 201),
  );
  await Promise.all([cutting, ...settled]);
  expect(await listThingIds()).toHaveLength(keys.length);
});

test('a request that lost its key to another one commits nothing', async () => {
  const { hold: waitAtGate, waiting, goOn: openGate } = createGate();
  beforeCreate = waitAtGate;
  const first = send().then((answer) => answer);
  await waiting;
  beforeCreate = async () => {};
  await expireLease();
  const second = await send({ to: two }).expect(201);
  openGate();
  expect([(await first).status, (await first).body.code]).toEqual([409, 'in_flight']);
  expect(await listThingIds()).toEqual([second.body.id]);
  expect((await send()).body).toEqual(second.body);
});

test('a refusal is not stored: a retry is checked again', async () => {
  beforeCreate = async () => {
    throw notFound('parent', 'x');
  };
  await send().expect(404);
  beforeCreate = async () => {};
  await send().expect(201);
});

test('a caller who can no longer see the resource gets no stored response, and creates nothing', async () => {
  const { body } = await send().expect(201);
  await send({ what: 'secret-things', key: 'secret' }).expect(201);
  isVisible = () => false;
  const refused = [await send(), await send({ what: 'secret-things', key: 'secret' })];
  expect(refused.map(({ status }) => status)).toEqual([404, 404]);
  expect(refused[0]?.text).not.toContain(`secret of ${body.id}`);
  expect(await listThingIds()).toHaveLength(2);
});

test('a response with a one-time secret is never stored, and a retry gets the created id', async () => {
  const { body } = await send({ what: 'secret-things' }).expect(201);
  const again = await send({ what: 'secret-things', to: two }).expect(409);
  expect(again.body).toMatchObject({ code: 'already_done', details: [{ path: 'id', message: body.id }] });
  expect(JSON.stringify(await getKeyRow())).not.toContain(body.secret);
  expect(await listThingIds()).toHaveLength(1);
});

test('if a lost response cannot be replayed, a retry gets the created id', async () => {
  afterCommit = async () => {
    throw unavailable('a service that this needs', new Error('gone'));
  };
  await send({ what: 'other-things' }).expect(503);
  const { body } = await send({ what: 'other-things' }).expect(409);
  expect(body).toMatchObject({ code: 'already_done', details: [{ path: 'id', message: (await listThingIds())[0] }] });
});

test('the content of a request cannot be guessed from the row', async () => {
  await send({ body: { value: '1234' } }).expect(201);
  const { request_hash: kept } = await getKeyRow();
  const plain = createHash('sha256').update(JSON.stringify(['POST', '/api/things', {}, { value: '1234' }]));
  expect(kept.toString('hex')).not.toBe(plain.digest('hex'));
});

test('a key is kept for a day', async () => {
  const first = await send().expect(201);
  await pool.query("UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes'");
  expect(await sweepIdempotencyKeys(pool)).toBe(0);
  expect((await send()).body).toEqual(first.body);
  await pool.query("UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'");
  expect((await send({ body: { name: 'other' } }).expect(201)).body.id).not.toBe(first.body.id);
  await pool.query("UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second'");
  expect(await sweepIdempotencyKeys(pool)).toBe(1);
});

test('a handler that does not record what it created fails every test that sends a key', async () => {
  shouldMark = false;
  await send().expect(500);
});

test('an x-idempotent operation without an idempotent handler prevents the start, and vice versa', () => {
  const options = {
    authenticate: async () => null,
    errorShape: 'error' as const,
    pool,
    hasher: { hash: (text: string) => ({ hash: hmac(text) }), candidates: (text: string) => [hmac(text)] },
    log,
  };
  const plain = () => ok({});
  const made = { create: plain, assertVisible: () => {} };
  const echo = { ...options, openapiFile: path.join(__dirname, 'test/echo.yaml') };
  const start = (makeThing: Handler<Call>, getThing: Handler<Call>) =>
    createSurface({ ...echo, operations: { makeThing, makeSecretThing: made, getThing } });
  expect(() => start(plain, plain)).toThrow(/makeThing: x-idempotent/);
  expect(() => start(made, made)).toThrow(/getThing: x-idempotent/);
});
