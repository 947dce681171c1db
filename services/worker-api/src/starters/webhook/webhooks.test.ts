import { createHmac } from 'node:crypto';
import { upsertClosure } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../../test/caller';
import { testWorkerApi } from '../../test/test-worker-api';
import { buildSignatureHeaders as signedBy } from '../../triggers/webhook/webhook-signature';

const START = new Date('2026-01-05T09:00:00Z');
let now = START;
const api = testWorkerApi({ now: () => now });
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
afterEach(() => {
  now = START;
});

interface Hooked {
  id: string;
  secret: string;
  key: string;
}

const files = [{ path: 'main.py', content: 'def run(payload): return payload' }];
async function createHooked(trigger: unknown = 'webhook', body: object = {}, caller = me): Promise<Hooked> {
  const { body: made } = await caller.post('/api/workers', { name: 'Hooked', files, trigger, ...body }).expect(201);
  return { id: made.id, secret: made.webhook_secret, key: made.webhook_signing_key };
}
const path = (id: string, secret: string) => `/api/webhooks/${id}?token=${secret}`;
const send = ({ id, secret }: Pick<Hooked, 'id' | 'secret'>, body: string | undefined, headers: object = {}) => {
  const sent = request(api.url)
    .post(path(id, secret))
    .set({ 'Content-Type': 'application/json', ...headers });
  return body === undefined ? sent : sent.send(body);
};
const getInput = async (runId: string) => (await me.get(`/api/runs/${runId}`).expect(200)).body.input;
const listRuns = async (id: string) => (await me.get(`/api/runs?worker_id=${id}&limit=200`).expect(200)).body;

test('the secret and the whole address are shown once, and are in no log', async () => {
  const { body } = await me.post('/api/workers', { name: 'Shown', files, trigger: { type: 'webhook', signed: true } });
  expect(body).toMatchObject({
    trigger_type: 'webhook',
    webhook_secret: expect.stringMatching(/^whk_[0-9A-Za-z]{49}$/),
    webhook_signing_key: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    webhook_url: `http://api.test/api/webhooks/${body.id}?token=${body.webhook_secret}`,
    triggers: [{ type: 'webhook', webhook_url: `http://api.test/api/webhooks/${body.id}`, signed: true }],
  });
  const again = await me.get(`/api/workers/${body.id}`).expect(200);
  const audit = await me.get('/api/audit-log?limit=200').expect(200);
  await send({ id: body.id, secret: body.webhook_secret }, '{}').expect(401);
  await send({ id: body.id, secret: `${body.webhook_secret}x` }, '{"a":').expect(400);
  for (const text of [again.text, audit.text, api.logs.text()]) {
    expect(text).not.toContain(body.webhook_secret);
    expect(text).not.toContain(body.webhook_signing_key);
  }
  expect(api.logs.text()).toContain(`/webhooks/${body.id}`);
});

test.each(['', '/api', '/v1', '/api/v1'])('%s/webhooks/{id} starts a run, which is queued', async (prefix) => {
  const { id, secret } = await createHooked();
  const answer = await request(api.url)
    .post(`${prefix}/webhooks/${id}?token=${secret}&hub=1`)
    .send({ a: 1 })
    .expect(200);
  expect(answer.body).toEqual({ status: 'queued', run_id: expect.stringMatching(/^run_/) });
  expect(await listRuns(id)).toMatchObject([{ id: answer.body.run_id, trigger: 'webhook', status: 'queued' }]);
});

test.each([
  ['{"a":{"b":[1]},"undeclared":null}', { a: { b: [1] }, undeclared: null }],
  ['[1,2]', { payload: [1, 2] }],
  ['"text"', { payload: 'text' }],
  ['17', { payload: 17 }],
  ['null', { payload: null }],
  ['{}', {}],
  [undefined, {}],
  ['{"constructor":{"prototype":1},"toString":null}', { constructor: { prototype: 1 }, toString: null }],
])('the body %s becomes the inputs %j', async (body, inputs) => {
  const worker = await createHooked();
  const { run_id } = (await send(worker, body).expect(200)).body;
  expect(await getInput(run_id)).toEqual(inputs);
});

test('any type of JSON is JSON, and any of its keys reaches the code, as deep as the code can read', async () => {
  const worker = await createHooked();
  const event = { 'Content-Type': 'application/cloudevents+json; charset=utf-8' };
  const text = `{"__proto__":{"a":1},"data":{"__proto__":2},"deep":${'['.repeat(400)}${']'.repeat(400)}}`;
  const { run_id } = (await send(worker, text, event).expect(200)).body;
  const { text: shown } = await me.get(`/api/runs/${run_id}`).expect(200);
  expect(shown).toContain(`"input":${text}`);
  const executor = await api.connectExecutor();
  let job = await executor.claim();
  // The runs of earlier tests come first. Claims end with this loop: one left open would take a later test's run.
  while (job && job.runId !== run_id) {
    await job.complete({});
    job = await executor.claim();
  }
  expect(JSON.stringify(job?.inputs)).toBe(text);
  await job?.complete({});
});

test('declared inputs are checked and completed, and others are kept', async () => {
  const inputs = [
    { name: 'number', type: 'integer', required: true },
    { name: 'label', default: 'none' },
  ];
  const worker = await createHooked('webhook', { inputs });
  const { run_id } = (await send(worker, '{"number":17,"action":"opened"}').expect(200)).body;
  expect(await getInput(run_id)).toEqual({ number: 17, label: 'none', action: 'opened' });
  const refused = await send(worker, '{"number":"many"}').expect(400);
  expect(refused.body.errors).toMatchObject([{ path: 'inputs.number' }]);
});

test('an unknown worker and a wrong token are refused alike', async () => {
  const { id, secret } = await createHooked();
  const manual = await createHooked('manual');
  const refused = await Promise.all(
    [
      path(id, `${secret.slice(0, -1)}!`),
      path(id, ''),
      `/api/webhooks/${id}`,
      path('nobody-knows-it', secret),
      path(manual.id, secret),
      path(id, 'x'.repeat(200)),
    ].map((url) => request(api.url).post(url).send({}).expect(401)),
  );
  expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  expect(await listRuns(id)).toEqual([]);
});

test('workspaces can have workers of the same id: the token decides', async () => {
  const theirs = createCaller(api.url, api.foreign.owner.jwt);
  const [a, b] = [
    await createHooked('webhook', { id: 'same-id' }),
    await createHooked('webhook', { id: 'same-id' }, theirs),
  ];
  const { run_id } = (await send(b, '{}').expect(200)).body;
  await theirs.get(`/api/runs/${run_id}`).expect(200);
  expect(await listRuns(a.id)).toEqual([]);
});

test('a deleted workspace accepts nothing', async () => {
  const theirs = createCaller(api.url, api.foreign.owner.jwt);
  const worker = await createHooked('webhook', {}, theirs);
  const closure = { workspaceId: api.foreign.workspaceId, purgeAt: Date.now() };
  await upsertClosure(api.deps.pool, { ...closure, restored: false });
  await send(worker, '{}').expect(401);
  await upsertClosure(api.deps.pool, { ...closure, restored: true });
  await send(worker, '{}').expect(200);
});

test('only POST, only JSON, and only up to its size limit', async () => {
  const worker = await createHooked();
  for (const method of ['get', 'put', 'patch', 'delete'] as const) {
    await request(api.url)[method](path(worker.id, worker.secret)).expect(405);
  }
  await send(worker, 'a=1', { 'Content-Type': 'application/x-www-form-urlencoded' }).expect(415);
  await send(worker, 'hello', { 'Content-Type': 'text/plain' }).expect(415);
  await send(worker, JSON.stringify({ a: 'x'.repeat(1_100_000) })).expect(413);
  await send(worker, '{"a":').expect(400);
  await send(worker, `${'['.repeat(501)}${']'.repeat(501)}`).expect(400);
  expect(await listRuns(worker.id)).toEqual([]);
});

test('a paused or archived worker is reported as such, and a deleted one is unknown', async () => {
  const worker = await createHooked();
  await me.post(`/api/workers/${worker.id}/pause`).expect(200);
  expect((await send(worker, '{}').expect(409)).body.code).toBe('paused');
  await me.post(`/api/workers/${worker.id}/archive`).expect(200);
  expect((await send(worker, '{}').expect(409)).body.code).toBe('archived');
  await me.remove(`/api/workers/${worker.id}`).expect(204);
  await send(worker, '{}').expect(401);
});

test("runs over the worker's own rate limit are a 429 with Retry-After", async () => {
  const worker = await createHooked('webhook', { limits: { runs_per_minute: 2 } });
  await send(worker, '{}').expect(200);
  await send(worker, '{}').expect(200);
  const refused = await send(worker, '{}').expect(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
});

describe('Idempotency-Key', () => {
  const key = (value: string) => ({ 'Idempotency-Key': value });

  test('starts one run for one key, and separates senders of other workers', async () => {
    const [worker, other] = [await createHooked(), await createHooked()];
    const answers = [
      await send(worker, '{"a":1}', key('same')).expect(200),
      await send(worker, '{"a":1}', key('same')).expect(200),
    ];
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect(await listRuns(worker.id)).toHaveLength(1);
    await send(worker, '{"a":2}', key('same')).expect(422);
    await send(other, '{"a":2}', key('same')).expect(200);
  });

  test('stores nothing for a sender without the secret', async () => {
    const worker = await createHooked();
    await send({ ...worker, secret: 'guess' }, '{}', key('mine')).expect(401);
    await send(worker, '{}', key('mine')).expect(200);
    await send({ ...worker, secret: 'guess' }, '{}', key('mine')).expect(401);
  });
});

describe('rotation', () => {
  test('returns a new secret that works at once and ends the old one', async () => {
    const worker = await createHooked();
    const { body } = await me.patch(`/api/workers/${worker.id}`, { webhook_secret_rotate: true }).expect(200);
    expect(body.webhook_secret).not.toBe(worker.secret);
    await send(worker, '{}').expect(401);
    await send({ ...worker, secret: body.webhook_secret }, '{}').expect(200);
    expect(api.logs.text()).not.toContain(body.webhook_secret);
  });

  test('of a missing trigger is a 400', async () => {
    const worker = await createHooked('manual');
    for (const field of ['webhook_secret_rotate', 'webhook_signing_key_rotate']) {
      const { body } = await me.patch(`/api/workers/${worker.id}`, { [field]: true }).expect(400);
      expect(body.errors[0].path).toBe(field);
    }
  });

  test('is not part of other edits, and a removed trigger loses its secret', async () => {
    const worker = await createHooked();
    const { body } = await me.patch(`/api/workers/${worker.id}`, { trigger: 'webhook', name: 'Renamed' }).expect(200);
    expect(body.webhook_secret).toBeUndefined();
    await send(worker, '{}').expect(200);
    await me.patch(`/api/workers/${worker.id}`, { trigger: 'manual' }).expect(200);
    await send(worker, '{}').expect(401);
    await me.patch(`/api/workers/${worker.id}`, { trigger: 'webhook' }).expect(200);
    await send(worker, '{}').expect(401);
  });
});

describe('a signed webhook', () => {
  const signed = { type: 'webhook', signed: true };
  const message = (id: string, body: string, at = now) => ({ id, at, body });
  const signHeaders = (key: string, sent: ReturnType<typeof message>) => signedBy([key], sent);
  let count = 0;
  const nextId = () => `msg_${++count}`;

  test('starts a run, with the exact body', async () => {
    const worker = await createHooked(signed);
    const body = '{ "a" : "ü",\n "b":1.0 }';
    const { run_id } = (await send(worker, body, signHeaders(worker.key, message(nextId(), body))).expect(200)).body;
    expect(await getInput(run_id)).toEqual({ a: 'ü', b: 1 });
    await send(worker, undefined, signHeaders(worker.key, message(nextId(), ''))).expect(200);
  });

  test('can have several signatures, of which one must be valid', async () => {
    const worker = await createHooked(signed);
    const headers = signHeaders(worker.key, message(nextId(), '{}'));
    const wrong = createHmac('sha256', 'wrong').update('x').digest('base64');
    const several = `v1a,abc v1,${wrong} v1,AAAA ${headers['webhook-signature']}`;
    await send(worker, '{}', { ...headers, 'webhook-signature': several }).expect(200);
    const { body } = await send(worker, '{}', { ...headers, 'webhook-signature': `v1,${wrong}` }).expect(401);
    expect(body.code).toBe('bad_signature');
  });

  test.each<[string, (good: Record<string, string>) => Record<string, string>]>([
    ['no signature', () => ({})],
    ['another id', (good) => ({ ...good, 'webhook-id': 'msg_other' })],
    ['another time', (good) => ({ ...good, 'webhook-timestamp': String(Number(good['webhook-timestamp']) + 1) })],
    ['an invalid time', (good) => ({ ...good, 'webhook-timestamp': '1e9' })],
    ['an empty signature', (good) => ({ ...good, 'webhook-signature': 'v1,' })],
  ])('with %s is refused', async (_what, change) => {
    const worker = await createHooked(signed);
    await send(worker, '{}', change(signHeaders(worker.key, message(nextId(), '{}')))).expect(401);
    expect(await listRuns(worker.id)).toEqual([]);
  });

  test('is refused with another body, and outside five minutes', async () => {
    const worker = await createHooked(signed);
    await send(worker, '{"a":2}', signHeaders(worker.key, message(nextId(), '{"a":1}'))).expect(401);
    for (const [seconds, status] of [
      [-301, 401],
      [-299, 200],
      [299, 200],
      [301, 401],
    ] as const) {
      const at = new Date(now.getTime() + seconds * 1_000);
      await send(worker, '{}', signHeaders(worker.key, message(nextId(), '{}', at))).expect(status);
    }
  });

  test('that is replayed, also at the same moment, starts nothing and gets the same response', async () => {
    const worker = await createHooked(signed);
    const headers = signHeaders(worker.key, message(nextId(), '{}'));
    const answers = await Promise.all([1, 2, 3, 4].map(() => send(worker, '{}', headers).expect(200)));
    expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
    expect(await listRuns(worker.id)).toHaveLength(1);
    await me.post(`/api/workers/${worker.id}/pause`).expect(200);
    expect((await send(worker, '{}', headers).expect(200)).body).toEqual(answers[0]?.body);
  });

  test('that is retried with an Idempotency-Key gets the same response, now and the next time', async () => {
    const worker = await createHooked(signed);
    const headers = signHeaders(worker.key, message(nextId(), '{}'));
    const { body } = await send(worker, '{}', headers).expect(200);
    const again = () => send(worker, '{}', { ...headers, 'Idempotency-Key': 'signed' }).expect(200);
    expect([(await again()).body, (await again()).body]).toEqual([body, body]);
    const { rows } = await api.deps.pool.query('SELECT made_id FROM idempotency_keys WHERE scope = $1', [
      (await api.deps.prisma.worker.findFirstOrThrow({ where: { id: worker.id } })).uid,
    ]);
    expect(rows).toEqual([{ made_id: body.run_id }]);
  });

  test('that was refused leaves no receipt', async () => {
    const worker = await createHooked(signed);
    const headers = signHeaders(worker.key, message(nextId(), '{}'));
    await me.post(`/api/workers/${worker.id}/pause`).expect(200);
    await send(worker, '{}', headers).expect(409);
    await me.post(`/api/workers/${worker.id}/resume`).expect(200);
    await send(worker, '{}', headers).expect(200);
    expect(await listRuns(worker.id)).toHaveLength(1);
  });

  test('is valid under the key before the last rotation for a day', async () => {
    const worker = await createHooked(signed);
    const { body } = await me.patch(`/api/workers/${worker.id}`, { webhook_signing_key_rotate: true }).expect(200);
    expect(body.webhook_secret).toBeUndefined();
    const by = (key: string) => signHeaders(key, message(nextId(), '{}'));
    await send(worker, '{}', by(worker.key)).expect(200);
    await send(worker, '{}', by(body.webhook_signing_key)).expect(200);
    now = new Date(now.getTime() + 86_400_001);
    await send(worker, '{}', by(worker.key)).expect(401);
    await send(worker, '{}', by(body.webhook_signing_key)).expect(200);
    await me.patch(`/api/workers/${worker.id}`, { trigger: 'webhook' }).expect(200);
    await send(worker, '{}').expect(200);
  });
});
