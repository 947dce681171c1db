/**
 * Shows with express-openapi-validator alone why some of its rules are not used, or not as they are (ADR 58). A test
 * that fails after an upgrade tells that the rule can be used.
 */
import express, { type ErrorRequestHandler, type Express } from 'express';
import { middleware } from 'express-openapi-validator';
import multer from 'multer';
import request from 'supertest';

interface Operation {
  parameters?: object[];
  requestBody?: object;
  response?: object;
  /** Whether the fields of a form are read before. */
  readForm?: boolean;
}

/** An application with one operation, which responds with what its handler gets. */
function createApp(
  method: 'get' | 'post',
  { parameters = [], requestBody, response = {}, readForm = false }: Operation,
): Express {
  const content = { 'application/json': { schema: response } };
  const operation = {
    parameters,
    ...(requestBody && { requestBody }),
    responses: { 200: { description: 'Read', content }, 500: { description: 'Failed', content } },
  };
  const components = { schemas: { Limit: { type: 'integer', minimum: 1 } } };
  const document = { openapi: '3.1.0', info: { title: 'One', version: '1' }, paths: { '/': { [method]: operation } } };
  const app = express();
  app.use(express.json());
  if (readForm) app.use(multer().none());
  app.use(
    middleware({
      apiSpec: { ...document, components } as never,
      validateApiSpec: false,
      validateSecurity: false,
      validateResponses: true,
      fileUploader: false,
    }),
  );
  app[method]('/', ({ query, body }, res) => void res.status(query.fail ? 500 : 200).json({ query, body }));
  const reportError: ErrorRequestHandler = ({ status = 500, message }, _req, res, _next) => {
    res.status(status).json({ message });
  };
  app.use(reportError);
  return app;
}

const queryParameter = (name: string, schema: object) => ({ name, in: 'query', schema });

test('of two unknown query parameters one is named', async () => {
  const { body } = await request(createApp('get', {})).get('/?a=1&b=2').expect(400);
  expect(body.message).toContain("'a'");
  expect(body.message).not.toContain("'b'");
});

test('a colon in a query is refused, although RFC 3986 allows it', async () => {
  const app = createApp('get', { parameters: [queryParameter('since', { type: 'string' })] });
  const { body } = await request(app).get('/?since=2026-01-05T09:00:00Z').expect(400);
  expect(body.message).toContain('url encoded');
});

test('whether a body is required is not read from the request body', async () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } } };
  const app = createApp('post', { requestBody: { required: true, content: { 'application/json': { schema } } } });
  await request(app).post('/').set('Content-Type', 'application/json').expect(200);
});

test('a default beside a reference is lost in a parameter', async () => {
  const limit = queryParameter('limit', { $ref: '#/components/schemas/Limit', default: 5 });
  const page = queryParameter('page', { type: 'integer', default: 1 });
  const { body } = await request(createApp('get', { parameters: [limit, page] }))
    .get('/')
    .expect(200);
  expect(body.query).toEqual({ page: 1 });
});

test('a name with brackets becomes an object', async () => {
  const filter = queryParameter('filter', { type: 'object', properties: { a: { type: 'string' } } });
  const app = createApp('get', { parameters: [filter] });
  const { body } = await request(app).get('/?filter[a]=1').expect(200);
  expect(body.query).toEqual({ filter: { a: '1' } });
});

test('a text of a form that is JSON passes for a list of files', async () => {
  const properties = { files: { type: 'array', items: { type: 'string', format: 'binary' } } };
  const content = { 'multipart/form-data': { schema: { type: 'object', properties } } };
  const app = createApp('post', { requestBody: { content }, readForm: true });
  const { body } = await request(app).post('/').field('files', '["a"]').expect(200);
  expect(body.body).toEqual({ files: ['a'] });
});

test('a response of 500 is not validated', async () => {
  const response = { type: 'object', required: ['missing'] };
  const app = createApp('get', { parameters: [queryParameter('fail', { type: 'boolean' })], response });
  const refused = await request(app).get('/').expect(500);
  expect(refused.body.message).toContain('missing');
  const passed = await request(app).get('/?fail=true').expect(500);
  expect(passed.body).toEqual({ query: { fail: true } });
});
