import { AppError } from '@gantry/errors';
import express, { type ErrorRequestHandler } from 'express';
import request from 'supertest';
import { readUrlEncodedBody } from './url-encoded';

const sendError: ErrorRequestHandler = (err, _req, res, next) => {
  if (!(err instanceof AppError)) return next(err);
  res.status(err.status).json({ code: err.code, detail: err.detail });
};
const app = express();
app.post('/', (req, res, next) => readUrlEncodedBody(req).then((fields) => void res.json(fields), next));
app.use(sendError);

const send = (body: string) => request(app).post('/').type('application/x-www-form-urlencoded').send(body);

test.each([
  ['grant_type=refresh_token&scope=mcp+mcp%3Aread', { grant_type: 'refresh_token', scope: 'mcp mcp:read' }],
  ['code=a%3Db%26c&state=%C3%A9', { code: 'a=b&c', state: 'é' }],
  ['resource=https://api.example.com/mcp?x=1', { resource: 'https://api.example.com/mcp?x=1' }],
  ['', {}],
])('%j has %j', async (body, fields) => {
  expect((await send(body).expect(200)).body).toEqual(fields);
});

test('a parameter without a value counts as omitted, also if it is repeated with one', async () => {
  expect((await send('scope=&state&code=a').expect(200)).body).toEqual({ code: 'a' });
  expect((await send('code=&code=a').expect(200)).body).toEqual({ code: 'a' });
});

test('names of object prototype members are ordinary names', async () => {
  const { text } = await send('__proto__=a&constructor=b').expect(200);
  expect(text).toBe('{"__proto__":"a","constructor":"b"}');
});

test.each([
  ['client_id=a&client_id=b', 400, 'invalid_request', 'client_id: appears twice'],
  ['client_id=a&client_id=a', 400, 'invalid_request', 'client_id: appears twice'],
  [`${'n'.repeat(100)}=a&${'n'.repeat(100)}=b`, 400, 'invalid_request', `${'n'.repeat(64)}: appears twice`],
  ['code=a%00b', 400, 'invalid_request', 'code: contains NUL'],
  [`code=${'a'.repeat(32 * 1024)}`, 413, 'too_large', expect.any(String)],
])('%.40s is refused with %i', async (body, status, code, detail) => {
  expect((await send(body).expect(status)).body).toEqual({ code, detail });
});

test('a compressed form is refused', async () => {
  const { body } = await send('code=a').set('Content-Encoding', 'gzip').expect(415);
  expect(body.code).toBe('unsupported_encoding');
});
