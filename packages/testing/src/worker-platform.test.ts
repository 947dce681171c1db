/**
 * Promises about workers that only the whole platform can break: built services, two of each that there may be two of.
 */
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'pg';
import { type ApiCall, createApiClient, deployAutomation } from './api-client';
import { dumpTables, findLeaks } from './find-leaks';
import { readEvents } from './read-events';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

let stack: Stack;
/** One for each replica of worker-api. */
let calls: [ApiCall, ApiCall];
let automations: ApiCall;
let pool: Pool;
let receiver: Server;
/** Bodies of the alerts that reached the outside world, in the order of their arrival. */
const alerted: string[] = [];

beforeAll(async () => {
  receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      alerted.push(Buffer.concat(chunks).toString());
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  stack = await startStack({ workerApis: 2, executors: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32' } });
  calls = stack.workerUrls.map((url) => createApiClient(url, stack.token)) as [ApiCall, ApiCall];
  automations = createApiClient(stack.automationUrls[0] as string, stack.token);
  pool = new Pool({ connectionString: stack.databaseUrls.worker });
  pool.on('error', () => {});
});

afterAll(async () => {
  await pool?.end();
  await stack?.stop();
  receiver?.close();
});

const receiverUrl = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

/** @throws Error with any other answer */
async function requestOk(status: number, ...[method, path, body]: Parameters<ApiCall>): Promise<Json> {
  const answer = await calls[0](method, path, body);
  if (answer.status === status) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

const createWorker = (id: string, code: string, rest: object = {}): Promise<Json> =>
  requestOk(201, 'POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content: code }], ...rest });

const start = async (worker: string, inputs: object = {}): Promise<string> =>
  (await requestOk(201, 'POST', `/api/workers/${worker}/runs`, { inputs })).run_id;

const getRun = (id: string): Promise<Json> => requestOk(200, 'GET', `/api/runs/${id}`);

const terminal = new Set(['completed', 'failed', 'cancelled', 'timed_out', 'rejected']);

/** Waits until a run has this status; one that has ended otherwise will not have it. */
async function waitForStatus(id: string, status: string): Promise<Json> {
  const last = await waitUntil(
    async () => {
      const run = await getRun(id);
      return (run.status === status || terminal.has(run.status)) && run;
    },
    { everyMs: 50, what: `run ${id} is ${status}` },
  );
  if (last.status !== status) throw new Error(`run ${id} is ${last.status}, not ${status}: ${last.error}`);
  return last;
}

const approve = (runId: string, data?: object) =>
  requestOk(200, 'POST', `/api/runs/${runId}/approve`, data && { data });

async function busySlots(): Promise<number[]> {
  return Promise.all(
    stack.executorUrls.map(async (url) => {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/^gantry_executor_slots_busy (\d+)/m.exec(metrics)?.[1]);
    }),
  );
}

async function restartEverything(): Promise<void> {
  const { executors, workerApis, automationApis, nats, postgres } = stack.parts;
  const services = [...workerApis, ...automationApis];
  // Executors first, as a deployment does: what they are working on ends where a service hears of it.
  for (const parts of [executors, services, [nats, postgres]]) await Promise.all(parts.map((part) => part.stop()));
  await Promise.all([nats.restart(), postgres.start()]);
  await Promise.all([...services, ...executors].map((part) => part.start()));
}

test('waiting runs hold no process, survive a restart of everything, and repeat no step; the first new run completes', async () => {
  const called = `
def run(n, ask, context):
    if ask:
        context.approve("May the called one go on?")
    return {"double": 2 * n}
`;
  const asks = { name: 'ask', type: 'boolean' };
  await createWorker('called', called, { inputs: [{ name: 'n', type: 'integer' }, asks] });
  // Each beginning leaves an artifact, and each step one of its own.
  const journey = `
def run(seconds, ask, context):
    def effect(name, value):
        context.artifact(name, name.encode())
        return value
    context.artifact("began", b"")
    n = context.step("load", effect, "load", 21)
    context.sleep(seconds)
    double = context.call("called", {"n": n, "ask": ask})["double"]
    decision = context.approve("Ship it?", form=[{"name": "note", "required": True}])
    note = context.step("ship", effect, "ship", decision["data"]["note"])
    return {"double": double, "note": note, "by": decision["approved_by"]}
`;
  await createWorker('journey', journey, { inputs: [{ name: 'seconds', type: 'number' }, asks] });
  const [asking, calling, sleeping] = await Promise.all([
    start('journey', { seconds: 2, ask: false }),
    start('journey', { seconds: 0, ask: true }),
    start('journey', { seconds: 6, ask: false }),
  ]);
  const waiting = async (id: string, kind: string) =>
    waitUntil(async () => (await getRun(id)).waiting_for?.kind === kind, { what: `${id}: ${kind}` });
  await Promise.all([waiting(sleeping, 'sleep'), waiting(calling, 'call'), waitForStatus(asking, 'pending_approval')]);
  const child = (await getRun(calling)).waiting_for.run_id;
  await waitForStatus(child, 'pending_approval');
  await waitUntil(async () => (await busySlots()).every((busy) => busy === 0));
  const { rows } = await pool.query('SELECT DISTINCT executor_id FROM runs WHERE id = ANY ($1)', [
    [asking, calling, child],
  ]);
  expect(rows).toEqual([{ executor_id: null }]);

  await createWorker('greet', 'def run(n):\n    return {"n": n}\n', { inputs: [{ name: 'n', type: 'integer' }] });

  await restartEverything();

  const greeting = await start('greet', { n: 1 });
  expect(await waitForStatus(greeting, 'completed')).toMatchObject({ attempt: 1, output: { n: 1 } });
  // No lease had to run out first: the executor that it was handed to is one that lives.
  const { rows: handedOut } = await pool.query('SELECT requeues FROM runs WHERE id = $1', [greeting]);
  expect(handedOut).toEqual([{ requeues: 0 }]);
  await approve(child);
  for (const id of [asking, calling, sleeping]) {
    await waitForStatus(id, 'pending_approval');
    await approve(id, { note: `for ${id}` });
  }
  for (const [id, began] of [
    [asking, 4],
    [calling, 3],
    [sleeping, 4],
  ] as const) {
    const run = await waitForStatus(id, 'completed');
    expect(run.output).toEqual({ double: 42, note: `for ${id}`, by: 'owner@example.test' });
    const left = [...Array(began).fill('began'), 'load', 'ship'];
    // All that was ever saved; the run lists what its last beginning saved.
    const artifacts = async () =>
      (await pool.query('SELECT name FROM run_artifacts WHERE run_id = $1 ORDER BY name', [id])).rows.map(
        ({ name }) => name,
      );
    // Reports of a run are taken out by several replicas, and its end may be written first.
    await waitUntil(async () => (await artifacts()).length >= left.length, {
      what: `artifacts of ${id}`,
    });
    expect(await artifacts()).toEqual(left);
    expect((await getRun(id)).artifacts.map(({ name }: Json) => name).sort()).toEqual(['began', 'load', 'ship']);
    expect(run.attempt).toBe(1);
  }
});

test('a waiting run continues with its original version, and a run whose code takes another path reports where', async () => {
  const edition = (text: string) => `
def run(context):
    context.approve("Go on?")
    return "${text}"
`;
  await createWorker('edited', edition('first'));
  await requestOk(201, 'PUT', '/api/secrets/PLAN', { value: 'careful' });
  const wavering = `
import os

def run(context):
    if os.environ["PLAN"] == "careful":
        context.step("check twice", lambda: True)
    context.approve("Go on?")
`;
  await createWorker('wavering', wavering, { secrets: ['PLAN'], retry: { max_attempts: 3, backoff_seconds: 0 } });
  const tried = `
def run(context):
    context.step(f"try {context.attempt}", lambda: True)
    raise ValueError("not yet")
`;
  await createWorker('tried', tried, { retry: { max_attempts: 5, backoff_seconds: 0 } });
  const [early, wavered, retried] = await Promise.all([start('edited'), start('wavering'), start('tried')]);
  await Promise.all([early, wavered].map((id) => waitForStatus(id, 'pending_approval')));

  await requestOk(200, 'PATCH', '/api/workers/edited', { files: [{ path: 'main.py', content: edition('second') }] });
  await requestOk(200, 'PUT', '/api/secrets/PLAN', { value: 'bold' });
  const late = await start('edited');
  await waitForStatus(late, 'pending_approval');
  for (const id of [early, wavered, late]) await approve(id);

  expect(await waitForStatus(early, 'completed')).toMatchObject({ worker_version: 1, output: { result: 'first' } });
  expect(await waitForStatus(late, 'completed')).toMatchObject({ worker_version: 2, output: { result: 'second' } });
  // Not tried again: it would go the same way.
  expect(await waitForStatus(wavered, 'failed')).toMatchObject({
    attempt: 1,
    error_type: 'CodeChanged',
    error: expect.stringMatching(/number 1 is step 'check twice', the code asked for approve 'Go on\?'/),
  });
  expect(await waitForStatus(retried, 'failed')).toMatchObject({
    attempt: 2,
    error_type: 'CodeChanged',
    error: expect.stringMatching(/number 1 is step 'try 1', the code asked for step 'try 2'/),
  });
});

test('streams that are interrupted three times, each time resumed at another replica, emit every event once and in order', async () => {
  const lines = 4_000;
  const chatty = `
import time

def run(context):
    context.step("begin", lambda: 1)
    for n in range(${lines}):
        print("line", n)
        if n % 100 == 99:
            context.progress(n / ${lines})
            time.sleep(0.03)
    context.artifact("tail", b"x")
`;
  await createWorker('chatty', chatty);
  const id = await start('chatty');
  const follow = (path: string, format: 'sse' | 'ndjson', breaks: number[]) =>
    readEvents({ urls: stack.workerUrls, token: stack.token, path: `/api/runs/${id}/${path}`, format, breaks });
  const [whole, wholeLines, events, eventsLines, logs, logsLines] = await Promise.all([
    follow('stream', 'sse', [500, 1_200, 700]),
    follow('stream', 'ndjson', [3, 1_500, 1_000]),
    follow('events', 'sse', [4, 5, 6]),
    follow('events', 'ndjson', [2, 5, 9]),
    follow('logs/stream', 'sse', [800, 1, 1_500]),
    follow('logs/stream', 'ndjson', [1, 900, 1_100]),
  ]);
  // Numbered 0: how the run stood when the stream began, which is no event of its own.
  const numbered = whole.filter(({ seq }) => seq > 0);
  // Batches are written in any order: those of before the end may come a moment after it.
  const stored = await waitUntil(
    async () => {
      const { rows } = await pool.query('SELECT seq::float8, type FROM run_events WHERE run_id = $1 ORDER BY seq', [
        id,
      ]);
      return rows.length >= numbered.length && rows;
    },
    { everyMs: 50 },
  );
  expect(numbered.map(({ seq, type }) => ({ seq, type }))).toEqual(stored);
  const texts = numbered.filter(({ type }) => type === 'log').map(({ data }) => data.text);
  expect(texts).toEqual(Array.from({ length: lines }, (_, n) => `line ${n}`));
  expect(numbered.slice(-2).map(({ type }) => type)).toEqual(['output', 'done']);
  const without = numbered.filter(({ type }) => type !== 'log');
  const only = numbered.filter(({ type }) => type === 'log' || type === 'done');
  expect(wholeLines.filter(({ seq }) => seq > 0)).toEqual(numbered);
  for (const read of [events, eventsLines]) expect(read.filter(({ seq }) => seq > 0)).toEqual(without);
  for (const read of [logs, logsLines]) expect(read).toEqual(only);
});

test('runs of automations raise alerts of the workspace and start workers that wait for them', async () => {
  const fragile = 'def run():\n    raise ValueError("the shop is closed")\n';
  const { id: automationId } = await deployAutomation(automations, { 'main.py': fragile }, { name: 'Fragile' });
  const tell = 'def run(event):\n    return event\n';
  const on = (type: string) => ({ trigger: { type: 'event', on: [type], source_id: automationId } });
  await createWorker('tell-of-runs', tell, on('run.failed'));
  await createWorker('tell-of-alerts', tell, on('alert.raised'));
  const alert = await requestOk(201, 'POST', '/api/alerts', { on: ['run.failed'], url: receiverUrl() });

  const { body } = await automations('POST', `/api/automations/${automationId}/run`, { inputs: {}, wait: 10 });
  expect(body.status).toBe('error');
  const listEventRuns = (worker: string) =>
    waitUntil(
      async () => {
        const { rows } = await pool.query("SELECT id FROM runs WHERE subject_ref = $1 AND status = 'completed'", [
          worker,
        ]);
        return rows.length > 0 && Promise.all(rows.map((row) => getRun(row.id)));
      },
      { everyMs: 100, what: `${worker} has run` },
    );
  const about = { worker_id: null, automation_id: automationId, run_id: body.runId };
  const failure = { error_code: 'exception', error: expect.stringContaining('the shop is closed') };
  const ofRun = { ...about, ...failure, type: 'run.failed', status: 'failed', trigger: 'api' };
  expect(await listEventRuns('tell-of-runs')).toMatchObject([{ trigger: 'event', output: ofRun }]);
  const ofAlert = { ...about, type: 'alert.raised', alert_id: alert.id, raised_for: 'run.failed' };
  expect(await listEventRuns('tell-of-alerts')).toMatchObject([{ trigger: 'event', output: ofAlert }]);
  const listReceived = () => alerted.map((one) => JSON.parse(one)).filter(({ data }) => data.alert_id === alert.id);
  await waitUntil(() => listReceived().length > 0);
  expect(listReceived()).toMatchObject([{ type: 'run.failed', data: { ...about, status: 'failed' } }]);
  await requestOk(204, 'DELETE', `/api/alerts/${alert.id}`);
});

test('two executors never run two runs of the same key at once, while other keys run beside them', async () => {
  const timed = `
import time

def run(key):
    began = time.time()
    time.sleep(0.15)
    return {"key": key, "from": began, "to": time.time()}
`;
  await createWorker('timed', timed, {
    inputs: [{ name: 'key', type: 'text' }],
    limits: { concurrency: 1, concurrency_key: 'key' },
  });
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const ids = await Promise.all([...keys, ...keys, ...keys, ...keys].map((key) => start('timed', { key })));
  const spans: Json[] = [];
  for (const id of ids) spans.push((await waitForStatus(id, 'completed')).output);
  spans.sort((a, b) => a.from - b.from);
  const overlapping = spans.flatMap((one, i) =>
    spans
      .slice(i + 1)
      .filter(({ from }) => from < one.to)
      .map((other) => [one, other]),
  );
  expect(overlapping.filter(([one, other]) => one.key === other.key)).toEqual([]);
  expect(overlapping.length).toBeGreaterThan(keys.length);
  const { rows } = await pool.query('SELECT DISTINCT executor_id FROM runs WHERE id = ANY ($1)', [ids]);
  expect(rows).toHaveLength(2);
});

test('no secret of a worker is in plain text on the way: not in responses, events, alerts, rows or logs', async () => {
  const secrets = { LEAKED: 'Sw0rdf1sh/+ünïcode&"quoted" value', PLAIN: 'plain-s3cret-of-letters' };
  for (const [name, value] of Object.entries(secrets)) await requestOk(201, 'PUT', `/api/secrets/${name}`, { value });
  // The content of artifacts is the user's own and is not masked; their names and types are ours to show.
  const leaky = `
import base64, logging, os, sys, urllib.parse
from gantry import context

def leak(s):
    print("whole", s, repr(s), [s])
    print("base64", base64.b64encode(s.encode()).decode(), base64.urlsafe_b64encode(b"xy" + s.encode() + b"z").decode())
    print("url", urllib.parse.quote(s), urllib.parse.quote_plus(s), "hex", s.encode().hex(), file=sys.stderr)
    for piece in (s[:9], s[9:12], s[12:]):
        sys.stdout.write(piece)
        sys.stdout.flush()
    print()
    logging.getLogger("leak").error("logging %s", s)
    context.log("via context " + s, **{"field": s, s: 1})
    context.progress(0.5, "half of " + s)
    context.cost(0.01, "for " + s)
    context.artifact(urllib.parse.quote(s, safe="") + ".txt", b"holds " + s.encode(), content_type="text/plain; of=" + s)
    refused = 0
    for attempt in (
        lambda: context.step("result", lambda: {"deep": [s]}),
        lambda: context.call("called", {"s": s}),
    ):
        try:
            attempt()
        except ValueError as error:
            print("refused", error)
            refused += 1
    assert refused == 2
    def failing():
        raise LookupError("step failed with " + s)
    try:
        context.step("failing", failing)
    except LookupError as error:
        print("caught", error)

def run(how):
    both = [os.environ["LEAKED"], os.environ["PLAIN"]]
    for s in both:
        leak(s)
    s = both[0]
    context.approve("Send " + s, message="with " + both[1], data={s: both}, form=[{"name": "note", "label": s, "default": s}])
    if how == "name":
        context.step("named " + s, lambda: 1)
    if how == "raise":
        try:
            raise KeyError(both[1])
        except KeyError as error:
            raise type(both[1], (Exception,), {})("failed with " + s) from error
    return {"leak": s, "nested": [{both[1]: s + "!"}], "large": [s] * 8_000}
`;
  const worker = await createWorker('leaky', leaky, {
    inputs: [{ name: 'how', type: 'text' }],
    secrets: Object.keys(secrets),
    triggers: [{ type: 'webhook', signed: true }],
  });
  const alert = await requestOk(201, 'POST', '/api/workers/leaky/alerts', {
    on: ['run.completed', 'run.failed', 'approval.requested'],
    url: receiverUrl(),
  });
  const { webhook_secret: webhookSecret, webhook_signing_key: signingKey } = worker;

  const send = async (body: string, token: string, key: string): Promise<Json> => {
    const [id, at] = [`msg_${Math.random()}`, String(Math.floor(Date.now() / 1_000))];
    const mac = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64')).update(`${id}.${at}.${body}`);
    const response = await fetch(`${stack.workerUrls[1]}/api/webhooks/leaky?token=${encodeURIComponent(token)}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': at,
        'webhook-signature': `v1,${mac.digest('base64')}`,
      },
      body,
    });
    return { status: response.status, ...((await response.json()) as object) };
  };
  const listEventRuns: string[] = [];
  const wrongly = [
    await send('{"how":"raise"}', webhookSecret, alert.secret),
    await send('{"how":"raise"}', `${webhookSecret}x`, signingKey),
    await send(`{"how":`, webhookSecret, signingKey),
  ];
  expect(wrongly.map(({ status }) => status)).toEqual([401, 401, 400]);
  listEventRuns.push(JSON.stringify(wrongly));
  const links: string[] = [];
  for (const how of ['return', 'raise', 'name']) {
    const { run_id: id } = await send(JSON.stringify({ how }), webhookSecret, signingKey);
    await waitForStatus(id, 'pending_approval');
    const [asked] = JSON.parse((await requestOk(200, 'GET', `/api/approvals?run_id=${id}`)) as string);
    const link = String(asked.review_url).split('/').at(-1) as string;
    links.push(link);
    listEventRuns.push(JSON.stringify({ ...asked, review_url: undefined }));
    listEventRuns.push(JSON.stringify(await requestOk(200, 'GET', `/api/reviews/${link}`)));
    listEventRuns.push(String((await automations('GET', `/review/${link}`)).status));
    await requestOk(200, 'POST', `/api/reviews/${link}/approve`, { data: { note: 'fine' }, name: 'A stranger' });
    await waitForStatus(id, how === 'return' ? 'completed' : 'failed');
    const paths = ['', '/events?logs=true', '/stream', '/logs', '/logs?format=text', '/logs/stream'];
    for (const path of paths) listEventRuns.push(JSON.stringify(await requestOk(200, 'GET', `/api/runs/${id}${path}`)));
  }
  const listSent = () => alerted.filter((body) => JSON.parse(body).data.alert_id === alert.id);
  await waitUntil(() => listSent().length === 6, { what: 'three requests and three ends have been told' });
  const lists = [
    '/api/runs?limit=50',
    '/api/runs/export.csv',
    '/api/workers/leaky',
    '/api/workers/leaky/logs?limit=100',
    '/api/workers/leaky/stats',
    '/api/workers/leaky/versions',
    '/api/secrets',
    '/api/alerts',
    `/api/alerts/${alert.id}/deliveries`,
    '/api/audit-log?limit=100',
  ];
  for (const path of lists) listEventRuns.push(JSON.stringify(await requestOk(200, 'GET', path)));
  await waitUntil(async () => (await pool.query('SELECT 1 FROM outbox')).rowCount === 0);

  const kept = `${await dumpTables(pool)}\n${stack.output()}`;
  const outside = [...listEventRuns, ...listSent()].join('\n');
  expect(outside).toContain('***');
  for (const value of Object.values(secrets)) expect(findLeaks(value, `${kept}\n${outside}`)).toEqual([]);
  for (const value of [webhookSecret, signingKey, alert.secret, stack.token]) {
    expect(findLeaks(value, `${kept}\n${outside}`)).toEqual([]);
  }
  // Receivers of alerts and people who may decide get the link; nothing keeps it.
  for (const link of links)
    expect(findLeaks(link.split('.')[1] as string, `${kept}\n${listEventRuns.join('\n')}`)).toEqual([]);
});
