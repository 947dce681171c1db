import path from 'node:path';
import { plainHasher, setupPool } from '@gantry/testing';
import type { Express, Request } from 'express';
import { pino } from 'pino';
import request from 'supertest';
import { type Call, type HandlerResult, ok, respondWith } from './handler';
import { type Operation, readOpenApiDocument } from './openapi-document';
import { createSurface } from './surface';
import { createMemoryStorage } from './upload';
import { createRequestValidator } from './validate-request';

const openapiFile = path.join(__dirname, 'test/validated.yaml');
const pool = setupPool('automation-api');
let app: Express;
let handle: (call: Call<{ id: string }, Record<string, unknown>>) => HandlerResult;

beforeAll(() => {
  app = createSurface({
    openapiFile,
    operations: { check: (call: Call<{ id: string }, Record<string, unknown>>) => handle(call), require: () => ok({}) },
    authenticate: async () => null,
    errorShape: 'error',
    pool,
    hasher: plainHasher,
    log: pino({ level: 'silent' }),
    validateResponses: true,
    uploads: { storage: createMemoryStorage(100) },
  });
});

beforeEach(() => {
  handle = ({ path, query, body, req }) => ok({ path, query, body, type: req.headers['content-type'] });
});

const post = (query = '', id = 'a') => request(app).post(`/api/checked/${id}${query}`);
const postValid = (query = '', id = 'a') => post(query, id).send({ name: 'abc' });
const getProblems = async (body: object) => {
  const { status, body: responseBody } = await post().send({ name: 'abc', ...body });
  return [status, ...responseBody.details.map(({ path, message }: Record<string, string>) => `${path} ${message}`)];
};

test.each([
  [{ name: 'a' }, 'name needs at least 2 characters'],
  [{ name: 'abcde' }, 'name may have at most 4 characters'],
  [{ name: undefined }, 'name is required'],
  [{ name: 5 }, 'name must be a text'],
  [{ other: 5 }, 'other unknown property'],
  [{ slug: 'a b' }, 'slug may contain only letters, digits, - and _'],
  [{ count: 0 }, 'count must be 1 or more'],
  [{ count: 4 }, 'count must be 3 or less'],
  [{ count: 1.5 }, 'count must be a whole number'],
  [{ count: '2' }, 'count must be a whole number'],
  [{ share: 0 }, 'share must be more than 0'],
  [{ share: 1.5 }, 'share must be less than 1.5'],
  [{ size: 7 }, 'size must be multiple of 5'],
  [{ at: '2026-13-01' }, 'at must be a date and time with a time zone, such as 2026-01-05T09:00:00Z'],
  [{ at: 5 }, 'at must be a text'],
  [{ until: 5 }, 'until must be a text or null'],
  [{ link: 'nowhere' }, 'link must be a URL that begins with http:// or https://'],
  [{ order: 'random' }, 'order must be one of: newest, oldest'],
  [{ tags: [] }, 'tags must not be empty'],
  [{ tags: ['a', 'b', 'c', 'd'] }, 'tags may have at most 3 items'],
  [{ tags: ['a', 'b', 'a'] }, 'tags must not contain duplicate items'],
  [{ tags: [5] }, 'tags.0 must be a text'],
  [{ map: {} }, 'map must not be empty'],
  [{ map: { a: 1, b: 2 } }, 'map has too many properties; the limit is 1'],
  [{ pair: { a: 1 } }, 'pair.b is required'],
  [{ more: { url: 1 } }, 'more.url unknown property; if it is an input, put it under inputs'],
])('%j is refused with a message for its field', async (body, problem) => {
  expect(await getProblems(body)).toEqual([400, problem]);
});

test('every problem of a small body is reported, and the first one of a large body', async () => {
  expect(await getProblems({ name: 'a', count: 9, choice: 5 })).toEqual([
    400,
    'name needs at least 2 characters',
    'count must be 3 or less',
    'choice must be a text',
    'choice must be true or false',
    'choice does not match any of the allowed forms',
  ]);
  expect(await getProblems({ count: 9, list: Array(10_000).fill('a') })).toEqual([400, 'count must be 3 or less']);
});

test('an optional body may be omitted, although its schema requires a property', async () => {
  const document = readOpenApiDocument(openapiFile);
  const validate = async (id: string) => {
    const operation = document.operations.find((one) => one.id === id) as Operation;
    const req = { params: { id: 'a' }, query: {}, headers: {} } as unknown as Request;
    return createRequestValidator(document)(operation)(req, 'application/json');
  };
  await validate('check');
  await expect(validate('require')).rejects.toMatchObject({ fields: [{ path: 'body', message: 'is required' }] });
});

test('defaults are added, also beside a reference, and query parameters are parsed', async () => {
  const { body } = await postValid('?count=5').expect(200);
  expect(body).toMatchObject({ query: { count: 5, order: 'newest' }, body: { name: 'abc', limit: 7 } });
});

test.each([
  ['word=a:b+c/d?e@f', 'a:b c/d?e@f'],
  ['word={"a":1}', '{"a":1}'],
  ['word=a,b', 'a,b'],
  ['word=%5B1%5D', '[1]'],
])('a text in the query is unchanged: %s', async (query, word) => {
  expect((await postValid(`?${query}`).expect(200)).body.query).toEqual({ word, order: 'newest' });
});

test.each([
  ['count[a]=1', 'count[a]', 'unknown query parameter "count[a]"'],
  ['__proto__=1', '__proto__', 'unknown query parameter "__proto__"'],
  ['_openapi=1', '_openapi', 'unknown query parameter "_openapi"'],
  ['count=1&count=2', 'count', 'must be a whole number'],
  ['word=', 'word', 'must not be empty'],
])('a query of %s is refused', async (query, field, message) => {
  expect((await postValid(`?${query}`).expect(400)).body.details).toEqual([{ path: field, message }]);
});

test.each(['a%2Fb', '..', '%2e%2e', 'check', 'a%25zz'])(
  'the path alone selects the operation, whatever its parameter: %s',
  async (id) => {
    const { body } = await postValid('', id);
    if (body.path) expect(body.path.id).toBe(decodeURIComponent(id));
    else expect(body.error).toMatch(/not found/);
  },
);

test('headers are validated, and reach the handler unchanged', async () => {
  const refused = await postValid().set('X-Note', 'long').expect(400);
  expect(refused.body.details).toEqual([{ path: 'x-note', message: 'may have at most 3 characters' }]);
  const sent = 'application/json; charset=UTF-8; x=1';
  expect((await post().set('Content-Type', sent).send('{"name":"abc"}').expect(200)).body.type).toBe(sent);
});

test('a text field of a form stays a text', async () => {
  const refused = await post().field('files', '["a"]').expect(400);
  expect(refused.body.details).toEqual([{ path: 'files', message: 'must be a list' }]);
});

test.each([
  ['an undocumented field type', 200, { wrong: 'no' }],
  ['an error of ours', 503, { problem: 'none' }],
  ['an undocumented success', 201, {}],
  ['a media type that is not documented', 200, 'name,size', { 'Content-Type': 'text/csv' }],
  ['a stream in place of JSON', 200, 'data: {}', { 'Content-Type': 'text/event-stream' }],
])('%s in a response is an internal error', async (_what, status, body, headers: Record<string, string> = {}) => {
  handle = () => respondWith(status, body, headers);
  expect((await postValid().expect(500)).body.code).toBe('internal');
});
