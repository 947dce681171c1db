import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, reserveFreePort } from '@gantry/testing';
import {
  ApiError,
  createGantry,
  type Gantry,
  paginate,
  unwrap,
  verifyWebhook,
  type WebhookSignatureError,
} from './index';
import { respond, type ScriptedServer, startScriptedServer } from './test/scripted-server';

let server: ScriptedServer;
let gantry: Gantry;

beforeEach(async () => {
  server = await startScriptedServer();
  gantry = createGantry({
    baseUrl: server.url,
    dashboardUrl: server.url,
    token: 'svc_test',
    retry: { firstDelayMs: 1 },
  });
});
afterEach(() => server.stop());

const busyResponse = respond(503, { detail: 'busy', code: 'unavailable' });
const startedResponse = respond(201, { run_id: 'run_1', status: 'queued' });
const destroyResponse = (response: { destroy(): void }) => response.destroy();

describe('retries', () => {
  test('a read is repeated after a busy server and after a lost connection', async () => {
    server.script.push(busyResponse, destroyResponse, respond(200, []));
    expect(await unwrap(gantry.worker.GET('/api/workers'))).toEqual([]);
    expect(server.requests).toHaveLength(3);
  });

  test('a write without a key is sent once', async () => {
    server.script.push(busyResponse);
    await expect(
      unwrap(gantry.worker.POST('/api/runs/{run_id}/cancel', { params: { path: { run_id: 'run_1' } } })),
    ).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    expect(server.requests).toHaveLength(1);
  });

  test('a start of a run is repeated with the same key and the same body', async () => {
    server.script.push(
      destroyResponse,
      respond(409, { detail: 'under way', code: 'in_flight' }, { 'Retry-After': '0' }),
      startedResponse,
    );
    expect(await gantry.runs.start('report', { region: 'north' })).toEqual({ run_id: 'run_1', status: 'queued' });
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual(Array(3).fill({ inputs: { region: 'north' } }));
  });

  test('a Retry-After that is too long to wait for is an error that names it', async () => {
    server.script.push(respond(429, { detail: 'too many requests', code: 'rate_limited' }, { 'Retry-After': '3600' }));
    await expect(unwrap(gantry.worker.GET('/api/workers'))).rejects.toMatchObject({ status: 429, retryAfter: 3600 });
    expect(server.requests).toHaveLength(1);
  });

  test('an abort ends the retries with the reason of the signal', async () => {
    server.script.push(respond(503, {}, { 'Retry-After': '10' }));
    const controller = new AbortController();
    const reading = gantry.runs.get('run_1', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await expect(reading).rejects.toThrow('enough');
  });

  test.each([{ firstDelayMs: 1 }, false] as const)(
    'an unreachable server is an ApiError with the address, with retries %j',
    async (retry) => {
      const offlineClient = createGantry({ baseUrl: `http://127.0.0.1:${await reserveFreePort()}`, retry });
      const failure = await offlineClient.runs.get('run_1').catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({ status: 0, code: 'unreachable' });
    },
  );
});

test('an error has the fields, the request id and the code of the response', async () => {
  const errors = [{ path: 'inputs.region', message: 'is required' }];
  server.script.push(
    respond(400, { detail: 'invalid inputs', code: 'invalid_inputs', errors }, { 'X-Request-Id': 'req_1' }),
  );
  await expect(gantry.runs.start('report')).rejects.toMatchObject({
    status: 400,
    code: 'invalid_inputs',
    message: 'invalid inputs',
    fields: errors,
    requestId: 'req_1',
    retryAfter: null,
  });
});

test('a web page in place of JSON is an error that says so', async () => {
  server.script.push((response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html></html>'));
  await expect(gantry.runs.get('run_1')).rejects.toMatchObject({ code: 'not_json' });
});

test.each([
  ['a web page of a server that does not know the path', 404, 'text/html', '<html></html>'],
  ['text', 200, 'text/plain', 'Welcome'],
  ['JSON that was cut off', 200, 'application/json', '[{"id":'],
  ['nothing', 200, 'application/json', ''],
])('%s is an error of its own, for objects, lists and streams', async (_what, status, type, text) => {
  const respondOddly = (response: import('node:http').ServerResponse) =>
    response.writeHead(status, { 'Content-Type': type }).end(text);
  server.script.push(respondOddly, respondOddly, respondOddly);
  await expect(gantry.runs.get('run_1')).rejects.toMatchObject({ name: 'ApiError', code: 'not_json' });
  await expect(gantry.runs.list().next()).rejects.toMatchObject({ name: 'ApiError', code: 'not_json' });
  await expect(gantry.runs.wait('run_1')).rejects.toMatchObject({ name: 'ApiError', code: 'not_json' });
});

test('a list of another program, which is an object, is no empty list', async () => {
  server.script.push(respond(200, { ok: true }));
  await expect(gantry.runs.list().next()).rejects.toMatchObject({ code: 'not_json' });
});

describe('lists', () => {
  test('are read page by page, along the links of the server', async () => {
    const next = {
      Link: '</api/runs?status=failed&before_id=run_2&before_created_at=2026-01-05T09%3A00%3A00.000Z>; rel="next"',
    };
    server.script.push(respond(200, [{ id: 'run_1' }, { id: 'run_2' }], next), respond(200, [{ id: 'run_3' }]));
    const ids: string[] = [];
    for await (const { id } of gantry.runs.list({ status: 'failed' })) ids.push(id);
    expect(ids).toEqual(['run_1', 'run_2', 'run_3']);
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/api/runs?status=failed',
      '/api/runs?status=failed&before_id=run_2&before_created_at=2026-01-05T09%3A00%3A00.000Z',
    ]);
  });

  test('inside an object are read as well, and no more pages than needed', async () => {
    server.script.push(
      respond(200, { automations: [{ id: 'aut_1' }] }, { Link: '</api/automations?offset=1>; rel="next"' }),
    );
    for await (const { id } of paginate(gantry.automation, '/api/automations')) {
      expect(id).toBe('aut_1');
      break;
    }
    expect(server.requests).toHaveLength(1);
  });
});

describe('streams', () => {
  const stream = (text: string) => (response: import('node:http').ServerResponse) =>
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(text);

  test('resume after the last event until the run has ended', async () => {
    server.script.push(
      stream('id: 1\nevent: log\ndata: {"text":"one"}\n\n'),
      stream('id: 2\nevent: log\ndata: {"text":"two"}\n\nid: 3\nevent: done\ndata: {"status":"completed"}\n\n'),
    );
    const events: unknown[] = [];
    for await (const { type, data } of gantry.runs.events('run_1')) events.push([type, data.text ?? data.status]);
    expect(events).toEqual([
      ['log', 'one'],
      ['log', 'two'],
      ['done', 'completed'],
    ]);
    expect(server.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1']);
  });

  test('waiting for a run that does not exist is an error at once', async () => {
    server.script.push(respond(404, { detail: 'no such run', code: 'not_found' }));
    await expect(gantry.runs.wait('run_1')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  test('waiting ends with the reason of its signal', async () => {
    server.script.push((response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': hello\n\n'),
    );
    const controller = new AbortController();
    const waiting = gantry.runs.wait('run_1', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 50);
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('webhooks', () => {
  const key = Buffer.alloc(32, 7);
  const secret = `whsec_${key.toString('base64')}`;
  const body = '{"type":"run.failed"}';
  const at = new Date('2026-01-05T09:00:00.000Z');
  const timestamp = String(at.getTime() / 1_000);
  const signature = `v1,${createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64')}`;
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,AAAA ${signature}`,
  };

  test('signed by one of the keys are accepted, whichever form the headers have', async () => {
    const old = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    expect(await verifyWebhook({ secret: [old, secret], headers, body, at })).toEqual({ id: 'msg_1', sentAt: at });
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook({ secret, headers: new Headers(headers), body: bytes, at })).toMatchObject({
      id: 'msg_1',
    });
  });

  test.each([
    ['another body', { body: `${body} ` }, /does not match/],
    ['another key', { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` }, /does not match/],
    ['an old timestamp', { at: new Date(at.getTime() + 301_000) }, /five minutes/],
    ['no signature', { headers: { ...headers, 'webhook-signature': undefined } }, /missing/],
    ['a secret of another kind', { secret: 'open-sesame' }, /whsec_/],
  ])('with %s are refused', async (_what, change, reason) => {
    const refusal = await verifyWebhook({ secret, headers, body, at, ...change }).catch(
      (error: WebhookSignatureError) => error,
    );
    expect(refusal).toMatchObject({ name: 'WebhookSignatureError', message: expect.stringMatching(reason) });
  });
});

test('the ES module exports what the sources do', () => {
  const root = path.resolve(__dirname, '..');
  const dir = createTemporaryDir('sdk');
  execFileSync(process.execPath, [path.join(root, 'build.mjs'), dir]);
  // Packages are looked for beside the file that imports them.
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const script = `console.log(Object.keys(await import('${dir}/index.mjs')).sort().join())`;
  const names = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(names.trim().split(',')).toEqual(Object.keys(require('./index')).sort());
});
