import path from 'node:path';
import { AppError, notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { buildTestUser, plainHasher, setupPool } from '@gantry/testing';
import type { Express } from 'express';
import { pino } from 'pino';
import request from 'supertest';
import { parse } from 'yaml';
import { type Call, created, type HandlerResult, ok } from './handler';
import { createSurface, type SurfaceOptions } from './surface';
import { createMemoryStorage, readBody } from './upload';

type Handle = (call: ThingCall) => HandlerResult;
type ThingCall = Call<{ id: string }, unknown, { name: string }>;

const pool = setupPool('automation-api');
let app: Express;
let logged: string[] = [];
let createdCount = 0;
let getThing: Handle;
let makeThing: Handle;

const principal: Principal = {
  kind: 'personal_token',
  ...buildTestUser(),
  workspaceId: 'ws_a',
  role: 'member',
  memberships: { ws_a: 'member' },
};

beforeAll(async () => {
  app = surface();
  // The first request compiles the OpenAPI file.
  await request(app).get('/api/things/x');
});

beforeEach(async () => {
  // Budgets of an address hold for every test.
  await pool.query('DELETE FROM rate_counts');
  logged = [];
  getThing = ({ path }) => ok({ id: path.id });
  makeThing = () => created({ id: `thing-${++createdCount}` });
});

const visibleToAll = { assertVisible: async () => {} };

function surface(over: Partial<SurfaceOptions> = {}): Express {
  return createSurface({
    openapiFile: path.join(__dirname, 'test/echo.yaml'),
    operations: {
      makeThing: { create: (call: ThingCall) => makeThing(call), ...visibleToAll },
      makeSecretThing: { create: () => created({ id: `secret-${++createdCount}` }), ...visibleToAll },
      getThing: (call: ThingCall) => getThing(call),
    },
    authenticate: async (req) => {
      const token = req.get('Authorization');
      if (token === 'Bearer wrong') throw new AppError('unauthorized', 'bad_credential', 'no such token');
      if (token === 'Bearer viewer') return { ...principal, role: 'viewer', tokenId: 'tok_2' };
      return token ? { ...principal, tokenId: token } : null;
    },
    errorShape: 'error',
    pool,
    hasher: plainHasher,
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
    validateResponses: true,
    ...over,
  });
}

const post = (token = 'good') => request(app).post('/api/things').set('Authorization', `Bearer ${token}`);

test('every response has a request id: the caller’s if it is valid, else a new one', async () => {
  const keptId = await request(app).get('/api/things/x').set('X-Request-Id', 'abc-12345678');
  expect(keptId.headers['x-request-id']).toBe('abc-12345678');
  const replaced = await request(app).get('/api/things/x').set('X-Request-Id', 'a b\tc<script>');
  expect(replaced.headers['x-request-id']).toMatch(/^req_[\w-]{21}$/);
});

test.each([
  ['malformed JSON', '{"name": ', 400, 'malformed_json'],
  ['a missing field', '{}', 400, 'invalid'],
  ['an unknown property', '{"name":"a","nmae":"b"}', 400, 'invalid'],
  ['a key that pollutes prototypes', '{"name":"a","data":{"__proto__":{"x":1}}}', 400, 'refused_key'],
  ['65 levels', `{"name":"a","data":${'['.repeat(65)}${']'.repeat(65)}}`, 400, 'too_deep'],
  ['more than 1 MB', `{"name":"${'a'.repeat(1024 * 1024)}"}`, 413, 'too_large'],
])('%s is refused with a code and no internal details', async (_what, body, status, code) => {
  const res = await post().set('Content-Type', 'application/json').send(body);
  expect(res.status).toBe(status);
  expect(res.body.code).toBe(code);
  expect(res.text).not.toMatch(/node_modules|at \w+ \(|SELECT/);
});

test('all problems are reported at once, in sentences', async () => {
  const answer = await request(app)
    .post('/api/things?limit=900&nonsense=1')
    .set('Authorization', 'Bearer good')
    .send({ nmae: 'b' });
  expect([answer.status, answer.body.details]).toEqual([
    400,
    [
      { path: 'nonsense', message: 'unknown query parameter "nonsense"' },
      { path: 'limit', message: 'must be 200 or less' },
      { path: 'name', message: 'is required' },
      { path: 'nmae', message: 'unknown property' },
    ],
  ]);
  expect((await post().send({ name: 5 })).body.details).toEqual([{ path: 'name', message: 'must be a text' }]);
  const untyped = await post().set('Content-Type', 'text/plain').send('x');
  expect(untyped.body.error).toBe('send Content-Type: application/json, not text/plain');
});

test('a refusal names the field', async () => {
  const missing = await post().send({});
  expect(missing.body.details).toEqual([{ path: 'name', message: expect.stringContaining('required') }]);
  const unknown = await post().send({ name: 'a', nmae: 'b' });
  expect(unknown.body.details).toEqual([{ path: 'nmae', message: 'unknown property' }]);
  const query = await request(app)
    .post('/api/things?limit=900')
    .set('Authorization', 'Bearer good')
    .send({ name: 'a' });
  expect(query.body.details[0].path).toBe('limit');
});

test.each([
  ['an unpaired surrogate', '{"name":"a","data":{"text":["\\ud800"]}}', 'data.text.0'],
  ['a name with an unpaired surrogate', '{"name":"a","data":{"\\udc00":1}}', 'data.\u{fffd}'],
  ['a number beyond the range of doubles', '{"name":"a","data":1e999}', 'data'],
])('%s cannot be stored unchanged and is refused', async (_what, body, path) => {
  const answer = await post().type('json').send(body);
  expect([answer.status, answer.body.details?.[0].path]).toEqual([400, path]);
});

test('a whole pair of surrogates is text', async () => {
  expect((await post().send({ name: '\ud83d\ude00' })).status).toBe(201);
});

test.each(['limit=Infinity', 'limit=-Infinity', 'word=%00'])('a query with %s is refused', async (query) => {
  const answer = await request(app)
    .post(`/api/things?${query}`)
    .set('Authorization', 'Bearer good')
    .send({ name: 'a' });
  expect([answer.status, answer.body.details?.[0].path]).toEqual([400, query.split('=')[0]]);
});

test.each(['gzip', 'deflate', 'br'])('a body that is not %s as declared is refused', async (encoding) => {
  const answer = await post().type('json').set('Content-Encoding', encoding).send('{"name":"a"}');
  expect([answer.status, answer.body.code]).toEqual([400, 'malformed_body']);
});

test('wrong type, method and path have their own statuses', async () => {
  expect((await post().set('Content-Type', 'text/plain').send('x')).status).toBe(415);
  expect((await request(app).delete('/api/things')).status).toBe(405);
  const missing = await request(app).get('/api/nothing');
  expect([missing.status, missing.body.error]).toEqual([404, '/api/nothing: not found']);
});

test('HEAD responds like GET without the body, and Allow names both', async () => {
  const { headers: got } = await request(app).get('/api/things/x').expect(200);
  const { text, headers } = await request(app).head('/api/things/x').expect(200);
  expect([text, headers['content-length'], headers['content-type']]).toEqual([
    undefined,
    got['content-length'],
    got['content-type'],
  ]);
  await request(app).head('/api/things').expect(405);
  expect((await request(app).post('/api/things/x').expect(405)).headers.allow).toBe('GET, HEAD');
});

test('paths without an operation have rate limit and Allow headers too', async () => {
  const app = surface({ beside: (one) => void one.get('/page', (_req, res) => void res.send('a page')) });
  for (const path of ['/page', '/openapi.json', '/openapi.yaml', '/nothing']) {
    const { headers } = await request(app).get(path);
    expect([path, headers['ratelimit-limit']]).toEqual([path, '600']);
    expect(headers).toMatchObject({ 'ratelimit-remaining': expect.any(String), 'ratelimit-reset': expect.any(String) });
  }
  expect((await request(app).post('/openapi.json').expect(405)).headers.allow).toBe('GET, HEAD');
});

test('an unknown path is named as requested', async () => {
  const aliased = surface({ canonicalPath: (asked) => `/api${asked.replace(/^\/v1/, '')}` });
  expect((await request(aliased).get('/v1/nothing')).body.error).toBe('/v1/nothing: not found');
  expect((await request(aliased).delete('/v1/things')).body.error).toBe('/v1/things: DELETE method not allowed');
});

test('an operation of another surface is named with its host', async () => {
  const other = { name: 'file', openapiFile: path.join(__dirname, 'test/files.yaml'), url: 'http://files.test' };
  const known = surface({ otherSurfaces: [other] });
  expect((await request(known).get('/api/packs/p/files').expect(404)).body.error).toBe(
    '/api/packs/p/files: not found; this operation belongs to the file surface, at http://files.test',
  );
  expect((await request(known).delete('/api/packs/p/files').expect(404)).body.error).toBe(
    '/api/packs/p/files: not found',
  );
});

test('the document of a surface is served at its own host as JSON and YAML, and names the host', async () => {
  const documented = surface({ publicUrl: 'http://echo.test' });
  const { body } = await request(documented).get('/openapi.json').expect(200);
  expect(body).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'http://echo.test' }] });
  const { headers, text } = await request(documented).get('/openapi.yaml').buffer().expect(200);
  expect(headers['content-type']).toContain('application/yaml');
  expect(parse(text)).toEqual(body);
});

test('no credential, a bad one and a role too low are refused', async () => {
  const body = { name: 'a' };
  expect((await request(app).post('/api/things').send(body)).status).toBe(401);
  expect((await post('wrong').send(body)).status).toBe(401);
  const low = await post('viewer').send(body);
  expect(low.status).toBe(403);
  expect(low.body.error).toMatch(/member role.*your role is viewer/);
});

test('guessing credentials is limited by address, and a valid credential from there is still accepted', async () => {
  const small = surface({ rateLimits: { requestsPerMinute: 3, runsPerMinute: 3, signInsPerMinute: 1 } });
  const guess = () => request(small).get('/api/things/x').set('Authorization', 'Bearer wrong');
  const statuses = [];
  for (let i = 0; i < 5; i++) statuses.push((await guess()).status);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  const good = await request(small).get('/api/things/x').set('Authorization', 'Bearer good-guest');
  expect(good.status).toBe(200);
});

test('above the budget the response is 429 with Retry-After, and every response reports what is left', async () => {
  const small = surface({ rateLimits: { requestsPerMinute: 600, runsPerMinute: 2, signInsPerMinute: 1 } });
  const call = () => request(small).post('/api/things').set('Authorization', 'Bearer limited').send({ name: 'a' });
  expect((await call()).headers['ratelimit-remaining']).toBe('1');
  await call();
  const over = await call();
  expect(over.status).toBe(429);
  expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
  const other = await request(small).post('/api/things').set('Authorization', 'Bearer other').send({ name: 'a' });
  expect(other.status).toBe(201);
});

test('no caller is told to wait longer than the window', async () => {
  const small = surface({ rateLimits: { requestsPerMinute: 1, runsPerMinute: 1, signInsPerMinute: 1 } });
  const call = () => request(small).get('/api/things/x').set('Authorization', 'Bearer patient');
  await call();
  const { status, headers } = await call();
  expect(status).toBe(429);
  for (const name of ['retry-after', 'ratelimit-reset']) expect(Number(headers[name])).toBeLessThanOrEqual(60);
});

test('rate limit headers are sent even if nothing is charged: for a probe, or an unidentified caller', async () => {
  const openapiFile = path.join(__dirname, 'test/probe.yaml');
  const probed = surface({ openapiFile, operations: { probe: () => ok({}) } });
  const probe = await request(probed).get('/healthz').expect(200);
  const away = surface({
    authenticate: async () => {
      throw new AppError('unavailable', 'unavailable', 'nobody can say');
    },
  });
  const unknown = await request(away).get('/api/things/x').set('Authorization', 'Bearer x').expect(503);
  for (const { headers } of [probe, unknown]) {
    expect(headers).toMatchObject({ 'ratelimit-limit': '600', 'ratelimit-remaining': expect.stringMatching(/^\d+$/) });
  }
});

test('a bug is a 500 that reveals nothing and is logged once; a dependency that is down is a 503', async () => {
  getThing = () => {
    throw new Error('SELECT password FROM users');
  };
  const bug = await request(app).get('/api/things/x');
  expect(bug.status).toBe(500);
  expect(bug.text).not.toContain('SELECT');
  expect(logged.filter((line) => line.includes('SELECT password'))).toHaveLength(1);

  getThing = () => {
    throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
  };
  const down = await request(app).get('/api/things/x');
  expect(down.status).toBe(503);
  expect(down.headers['retry-after']).toBeDefined();
  expect(down.text).not.toContain('10.0.0.7');
});

test('the query never reaches the log', async () => {
  getThing = () => {
    throw notFound('thing', 'x');
  };
  await request(app).get('/api/things/x?token=very-secret');
  await request(app).get('/api/things/x').set('Authorization', 'Bearer very-secret');
  expect(logged.join('')).not.toContain('very-secret');
});

test('an operation without a handler, or a handler without an operation, prevents the start', () => {
  const makeThing = { create: getThing, ...visibleToAll };
  expect(() => surface({ operations: { makeThing, extra: getThing } })).toThrow(
    /no handler for operation makeSecretThing; no handler for operation getThing; no operation for handler extra/,
  );
});

function files(): Express {
  return surface({
    openapiFile: path.join(__dirname, 'test/files.yaml'),
    operations: {
      listFiles: () => ok([]),
      putFile: async ({ req, path, files: uploaded }: Call<Record<string, string>>) => {
        const bytes = uploaded.length ? uploaded.map(({ buffer }) => buffer.length) : (await readBody(req, 100)).length;
        return ok({ ...path, bytes, names: uploaded.map(({ originalname }) => originalname) });
      },
    },
    uploads: { storage: createMemoryStorage(100), preservePath: true, defParamCharset: 'utf8' },
  });
}

test.each([
  ['a.txt', 'a.txt'],
  ['docs/deep/a.txt', 'docs/deep/a.txt'],
  ['docs%2Fdeep%2Fa.txt', 'docs/deep/a.txt'],
  ['%C3%A4%20b/100%25.txt', 'ä b/100%.txt'],
  ['a%252Fb', 'a%2Fb'],
  ['docs//a', 'docs//a'],
  ['docs/', 'docs/'],
])('the rest of a path, %s, is one parameter, decoded once', async (sent, decoded) => {
  const { body } = await request(files()).put(`/api/packs/p/files/${sent}?`).set('Content-Type', 'text/x').send('four');
  expect(body).toMatchObject({ name: 'p', path: decoded, bytes: 4 });
});

test('the rest of a path is validated, and is not the shorter path beside it', async () => {
  const app = files();
  const long = await request(app)
    .put(`/api/packs/p/files/${'a/'.repeat(21)}`)
    .set('Content-Type', 'text/x')
    .send('x');
  expect([long.status, long.body.details?.[0].path]).toEqual([400, 'path']);
  expect((await request(app).put('/api/packs/p/files/a%zz').send()).status).toBe(400);
  expect((await request(app).get('/api/packs/p/files').expect(200)).body).toEqual([]);
  expect((await request(app).put('/api/packs/p/files').send()).status).toBe(405);
});

test('bodies other than JSON are bounded: raw bytes, and files of a form together', async () => {
  const put = () => request(files()).put('/api/packs/p/files/a');
  const raw = await put().set('Content-Type', 'image/png').send(Buffer.alloc(101));
  expect([raw.status, raw.body.code]).toEqual([413, 'too_large']);
  const chunked = put().set('Content-Type', 'x/y');
  chunked.write(Buffer.alloc(500_000).toString());
  expect((await chunked).status).toBe(413);
  const packed = await put().set('Content-Type', 'x/y').set('Content-Encoding', 'gzip').send(Buffer.alloc(10));
  expect(packed.status).toBe(415);
  const some = await put()
    .attach('files', Buffer.alloc(50), { filepath: 'dir/ä.txt' } as object)
    .attach('files', Buffer.alloc(50), 'b');
  expect(some.body).toMatchObject({ bytes: [50, 50], names: ['dir/ä.txt', 'b'] });
  const over = await put().attach('files', Buffer.alloc(50), 'a').attach('files', Buffer.alloc(51), 'b');
  expect([over.status, over.body.code]).toEqual([413, 'too_large']);
});

test.each([
  ['breaks off', '--x\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\nhalf of'],
  ['has a part without a head', '--x\r\nnonsense\r\n\r\na\r\n--x--\r\n'],
  ['is not a form', 'nothing'],
])('a form that %s is refused', async (_what, body) => {
  const answer = await request(files())
    .put('/api/packs/p/files/a')
    .set('Content-Type', 'multipart/form-data; boundary=x')
    .send(body);
  expect([answer.status, answer.body.code]).toEqual([400, 'malformed_form']);
});

describe('without a valid credential or the role, the request is not inspected', () => {
  const hostile: [string, string, string | Buffer][] = [
    ['malformed JSON', 'application/json', '{"name": '],
    ['no JSON', 'text/plain', 'x'],
    ['a form', 'multipart/form-data; boundary=x', '--x\r\nhalf'],
    ['an invalid type', 'nonsense', 'x'],
    ['a body that is not compressed as declared', 'application/json', '{}'],
    ['65 levels', 'application/json', `{"name":"a","data":${'['.repeat(65)}${']'.repeat(65)}}`],
    ['more than 1 MB', 'application/json', `{"name":"${'a'.repeat(1024 * 1024)}"}`],
    ['unknown properties', 'application/json', '{"a":1,"b":2}'],
  ];
  const send = (type: string, body: string | Buffer, token?: string) => {
    const sent = request(app).post('/api/things?limit=nonsense&unknown=1').set('Content-Type', type);
    if (body === '{}') sent.set('Content-Encoding', 'gzip');
    if (token) sent.set('Authorization', `Bearer ${token}`);
    return sent.send(body);
  };

  test.each(hostile)('%s', async (_what, type, body) => {
    const answers = await Promise.all([send(type, body), send(type, body, 'wrong'), send(type, body, 'viewer')]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 403]);
  });

  test('a path that cannot be decoded is handled', async () => {
    expect((await request(app).put('/api/packs/p/files/a%zz').send('x')).status).toBe(404);
    const malformed = await request(app).get('/api/things/a%zz').set('Authorization', 'Bearer good');
    expect([malformed.status, malformed.body.code]).toEqual([400, 'invalid']);
  });
});

test('the budget comes before the body: over it, malformed JSON is 429', async () => {
  const small = surface({ rateLimits: { requestsPerMinute: 600, runsPerMinute: 1, signInsPerMinute: 1 } });
  const call = () =>
    request(small).post('/api/things').set('Authorization', 'Bearer limited').type('json').send('{"name": ');
  expect((await call()).status).toBe(400);
  expect((await call()).status).toBe(429);
});

test('unknown paths and methods count against the address’ budget, and 405 lists the methods', async () => {
  const small = surface({ rateLimits: { requestsPerMinute: 2, runsPerMinute: 1, signInsPerMinute: 1 } });
  const from = (test: request.Test) => test.set('X-Forwarded-For', '192.0.2.21');
  const wrongMethod = await from(request(small).delete('/api/things'));
  expect([wrongMethod.status, wrongMethod.headers.allow]).toEqual([405, 'POST']);
  expect((await from(request(small).get('/api/nothing'))).status).toBe(404);
  expect((await from(request(small).get('/api/nothing'))).status).toBe(429);
});

test('an address that keeps guessing is refused before its next guess is checked', async () => {
  let attempts = 0;
  const small = surface({
    rateLimits: { requestsPerMinute: 2, runsPerMinute: 2, signInsPerMinute: 1 },
    authenticate: async () => {
      attempts++;
      throw new AppError('unauthorized', 'bad_credential', 'no such token');
    },
  });
  for (let i = 0; i < 25; i++) {
    await request(small).get('/api/things/x').set({ Authorization: 'Bearer guess', 'X-Forwarded-For': '192.0.2.20' });
  }
  expect(attempts).toBe(20);
});

test('at most twenty problems are reported, in a small response', async () => {
  const unknown = (count: number) =>
    JSON.stringify({ name: 'a', ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1])) });
  const some = await post().type('json').send(unknown(100));
  expect([some.status, some.body.details.length]).toEqual([400, 20]);
  const many = await post().type('json').send(unknown(15_000));
  expect([many.status, many.body.details]).toEqual([400, [{ path: 'k0', message: 'unknown property' }]]);
  const tooMany = await post().type('json').send(unknown(21_000));
  expect([tooMany.status, tooMany.body.code]).toEqual([400, 'too_many_parts']);
  const long = await post().send({ name: 'a', ['k'.repeat(900_000)]: 1 });
  expect(long.status).toBe(400);
  expect(long.text.length).toBeLessThan(4_000);
});

test('the number of objects, lists and names in a body is limited', async () => {
  const many = await post()
    .type('json')
    .send(`{"name":"a","data":[${'{},'.repeat(100_000)}{}]}`);
  expect([many.status, many.body.code]).toEqual([400, 'too_many_parts']);
  const numbers = await post()
    .type('json')
    .send(`{"name":"a","data":[${'0,'.repeat(500_000)}0]}`);
  expect(numbers.status).toBe(201);
});

test('parameters of a media type are not cached', async () => {
  const named = await post().set('Content-Type', 'application/json; x=1').send('{"name":"a"}');
  expect(named.status).toBe(201);
  expect((await post().set('Content-Type', 'application/json; charset=latin1').send('{"name":"a"}')).status).toBe(415);
});

test('an error quotes only text that can be stored', async () => {
  const quoted = await post().send({ name: 'a', 'nul\u0000': 1 });
  expect([quoted.status, quoted.body.details[0].path]).toEqual([400, 'nul\u{fffd}']);
  makeThing = () => {
    throw new AppError('conflict', 'taken', 'the name a\u0000b is taken');
  };
  const taken = await post().set('Idempotency-Key', 'quotes-nul').send({ name: 'a' }).expect(409);
  expect(taken.body.error).toBe('the name a\u{fffd}b is taken');
});

test('errors are never cached, whatever headers were set before', async () => {
  getThing = ({ res }) => {
    res.set({ 'Cache-Control': 'public, max-age=31536000, immutable', ETag: '"1"' });
    throw notFound('thing', 'x');
  };
  const gone = await request(app).get('/api/things/x');
  expect([gone.status, gone.headers['cache-control'], gone.headers.etag]).toEqual([404, 'no-store', undefined]);
  expect((await request(app).get('/api/nothing')).headers['cache-control']).toBe('no-store');
  expect((await request(app).post('/api/things')).headers).toMatchObject({
    'cache-control': 'no-store',
    'www-authenticate': 'Bearer',
  });
});
