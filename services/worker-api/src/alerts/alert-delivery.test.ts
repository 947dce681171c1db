import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  approvalRequested,
  buildDurableName,
  buildEventSubject,
  EVENTS_STREAM,
  type EventType,
  enqueue,
  newId,
  runFinished,
  scheduleMissed,
  upsertClosure,
} from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { Webhook } from 'standardwebhooks';
import { createMailer } from '../mail/mailer';
import { createCaller } from '../test/caller';
import { createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { setupMail } from '../test/mail-catcher';
import { testWorkerApi } from '../test/test-worker-api';
import { startDeliveryLoop } from './delivery-loop';
import { claimDeliveries } from './delivery-repository';
import { raiseAlerts } from './raise-alerts';
import { sendDelivery } from './send-delivery';

interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
}

let worker: MadeWorker;
let receiverUrl: string;
let clock: Date;

/** Requests received by path of the receiver, and its responses; default 204. */
const received: Received[] = [];
const answers = new Map<string, (req: IncomingMessage, res: ServerResponse) => void>();
const at = (path: string) => received.filter((one) => one.path === path);

const receiver = createServer(async (req, res) => {
  const body = Buffer.concat(await req.toArray()).toString();
  const path = req.url ?? '';
  received.push({ path, headers: req.headers as Record<string, string>, body });
  const answer = answers.get(path);
  if (answer) answer(req, res);
  else res.writeHead(204).end();
});
const mail = setupMail();
const api = testWorkerApi(() => ({ now: () => clock, smtpUrl: mail.url, outboundAllow: ['127.0.0.0/8'] }));
const admin = setupResource(async () => createCaller(api.url, (await api.addMember('admin')).jwt));
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});

beforeEach(async () => {
  clock = new Date();
  worker = await createTestWorker(api);
});

afterEach(async () => {
  await api.deps.prisma.alert.deleteMany();
});

afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

let paths = 0;
/** An alert for `worker` unless the body says otherwise, with a path of its own. */
async function createAlert(body: object = {}) {
  const path = `/hook-${++paths}`;
  const { body: alert } = await admin
    .post('/api/alerts', { on: ['run.failed'], worker_id: worker.id, url: receiverUrl + path, ...body })
    .expect(201);
  return { ...(alert as { id: string; secret: string }), path };
}

const respondWith = (path: string, status: number, body = '', headers = {}) =>
  answers.set(path, (_, res) => res.writeHead(status, headers).end(body));

/** Publishes the event as its service would, and waits until it has been evaluated. */
async function announce(event: Parameters<typeof enqueue>[1], data: object, workspaceId = api.workspaceId) {
  const { pool } = api.database;
  await enqueue(pool, event, workspaceId, data as never);
  await waitUntil(outboxIsEmpty);
  await waitUntilConsumed(event);
}

const waitUntilConsumed = (event: EventType) =>
  waitUntil(async () => {
    const manager = await api.bus.nc.jetstreamManager({ checkAPI: false });
    const durable = buildDurableName('worker-api', event);
    const { num_pending, num_ack_pending } = await manager.consumers.info(EVENTS_STREAM, durable);
    return num_pending + num_ack_pending === 0;
  });

const outboxIsEmpty = async () => (await api.database.pool.query('SELECT 1 FROM outbox LIMIT 1')).rowCount === 0;

const buildFailedRun = (run: object = {}) => ({
  runId: newId('run_'),
  source: 'worker',
  subjectId: worker.uid,
  subjectRef: worker.id,
  trigger: 'schedule',
  status: 'failed',
  errorCode: 'exception',
  errorMessage: 'ConnectionError: no route to the CRM\n  at report.py:12',
  costUsd: 0.25,
  durationMs: 1_500,
  finishedAt: clock.getTime(),
  ...run,
});

const fail = (run?: object) => announce(runFinished, buildFailedRun(run));
const tick = () => api.deps.deliveryLoop.tick();
const advanceClock = (ms: number) => {
  clock = new Date(clock.getTime() + ms);
};
const HOUR = 3_600_000;
const listDeliveries = async (id: string, query = '') =>
  (await admin.get(`/api/alerts/${id}/deliveries${query}`).expect(200)).body;

test('a failed run reaches the receiver, signed so that an independent implementation verifies it', async () => {
  const alert = await createAlert();
  const run = buildFailedRun();
  await announce(runFinished, run);
  await tick();
  const [message] = at(alert.path);
  expect(message?.headers).toMatchObject({ 'content-type': 'application/json' });
  const payload = new Webhook(alert.secret).verify(message?.body ?? '', message?.headers ?? {});
  expect(payload).toEqual({
    type: 'run.failed',
    timestamp: new Date(run.finishedAt).toISOString(),
    data: {
      alert_id: alert.id,
      workspace_id: api.workspaceId,
      worker_id: worker.id,
      worker_name: 'Made by a test',
      automation_id: null,
      run_id: run.runId,
      run_url: `http://dashboard.test/runs/${run.runId}`,
      status: 'failed',
      error: { code: 'exception', message: run.errorMessage },
      trigger: 'schedule',
      duration_ms: 1_500,
      cost_usd: 0.25,
    },
  });
  const [delivery] = await listDeliveries(alert.id);
  expect(delivery).toMatchObject({
    id: message?.headers['webhook-id'],
    channel: 'webhook',
    status: 'delivered',
    payload,
    attempts: [{ status: 204, error: null }],
  });
});

test('the old secret verifies for a day after a rotation, the new one from the start', async () => {
  const alert = await createAlert();
  const { body } = await admin.patch(`/api/alerts/${alert.id}`, { secret_rotate: true }).expect(200);
  const verifies = async (secret: string) => {
    const [message] = at(alert.path).slice(-1);
    const { headers, body: text } = message as Received;
    // The test covers the signature, not the library's clock.
    const signed = new Webhook(secret).sign(
      headers['webhook-id'] ?? '',
      new Date(Number(headers['webhook-timestamp']) * 1000),
      text,
    );
    return headers['webhook-signature']?.split(' ').includes(signed);
  };
  await fail();
  await tick();
  expect([await verifies(alert.secret), await verifies(body.secret)]).toEqual([true, true]);
  advanceClock(25 * HOUR);
  await fail();
  await tick();
  expect([await verifies(alert.secret), await verifies(body.secret)]).toEqual([false, true]);
});

test('each alert receives only the events that it selects, of its own subject', async () => {
  const other = await createTestWorker(api);
  const own = await createAlert();
  const ofOther = await createAlert({ worker_id: other.id });
  const ofWorkspace = await createAlert({ worker_id: undefined });
  const completed = await createAlert({ on: ['run.completed', 'run.timed_out'] });
  const disabled = await createAlert({ enabled: false });
  const foreign = createCaller(api.url, api.foreign.owner.jwt);
  await foreign.post('/api/alerts', { on: ['run.failed'], url: `${receiverUrl}/foreign` }).expect(201);
  await fail();
  await announce(runFinished, { ...buildFailedRun(), status: 'timed_out', errorCode: 'timeout' });
  await tick();
  expect(at(own.path)).toHaveLength(1);
  expect(at(ofWorkspace.path)).toHaveLength(1);
  expect(at(completed.path).map(({ body }) => JSON.parse(body).type)).toEqual(['run.timed_out']);
  for (const path of [ofOther.path, disabled.path, '/foreign']) expect(at(path)).toEqual([]);
});

test("an automation's run raises the workspace's alerts and its own", async () => {
  const automation = `aut_${newId('')}`;
  const own = await createAlert({ worker_id: undefined, automation_id: automation });
  const ofAnother = await createAlert({ worker_id: undefined, automation_id: 'aut_another' });
  const run = buildFailedRun({ source: 'automation', subjectId: automation, subjectRef: null });
  await announce(runFinished, run);
  await tick();
  expect(at(ofAnother.path)).toEqual([]);
  const [message] = at(own.path);
  expect(JSON.parse(message?.body ?? '').data).toMatchObject({
    worker_id: null,
    automation_id: automation,
    run_url: `http://dashboard.test/a/${automation}?run=${run.runId}`,
  });
});

test('requested approvals and missed fires raise alerts too', async () => {
  const alert = await createAlert({ on: ['approval.requested', 'schedule.missed'] });
  const subject = { workerUid: worker.uid, workerId: worker.id };
  const expiresAt = clock.getTime() + HOUR;
  await announce(approvalRequested, { ...subject, approvalId: 'apr_1', runId: 'run_1', title: 'Send it?', expiresAt });
  await announce(scheduleMissed, { ...subject, missed: 3, since: clock.getTime(), startedLate: 1 });
  await tick();
  const data = at(alert.path).map(({ body }) => JSON.parse(body).data);
  expect(data).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        run_id: 'run_1',
        approval: { id: 'apr_1', title: 'Send it?', expires_at: new Date(expiresAt).toISOString() },
      }),
      expect.objectContaining({ schedule: { missed: 3, since: clock.toISOString(), started_late: 1 } }),
    ]),
  );
});

test('an event that is delivered twice raises once, even if its first delivery was forgotten', async () => {
  const alert = await createAlert();
  const envelope = { id: newId('evt_'), workspaceid: api.workspaceId, time: clock, data: buildFailedRun() };
  const publish = async () => {
    await api.bus.js.publish(buildEventSubject(runFinished, 'worker-api'), Buffer.from(JSON.stringify(envelope)));
    await waitUntilConsumed(runFinished);
  };
  await publish();
  await publish();
  await api.database.pool.query("DELETE FROM inbox WHERE consumer LIKE '%alerts%'");
  await publish();
  expect(await listDeliveries(alert.id)).toHaveLength(1);
});

test('a failing receiver is retried after longer and longer delays, under the same id, and then no more', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 500, 'out of order');
  await fail();
  expect(await tick()).toBe(1);
  expect(await tick()).toBe(0);
  const [first] = await listDeliveries(alert.id);
  expect(first).toMatchObject({
    status: 'pending',
    attempts: [{ status: 500, error: 'answered 500', response: 'out of order' }],
  });
  const waitMs = Date.parse(first.next_attempt_at) - clock.getTime();
  expect(waitMs).toBeGreaterThanOrEqual(5_000);
  expect(waitMs).toBeLessThanOrEqual(6_000);
  for (let attempt = 2; attempt <= 12; attempt++) {
    advanceClock(10 * HOUR);
    await tick();
  }
  const [dead] = await listDeliveries(alert.id, '?status=dead');
  expect(dead).toMatchObject({ id: first.id, next_attempt_at: null, ended_at: expect.any(String) });
  expect(dead.attempts).toHaveLength(10);
  const ids = at(alert.path).map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual(Array(10).fill(first.id));
  expect(new Set(at(alert.path).map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
});

test('dead letters are resent one by one or all together', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 500);
  for (const _ of [1, 2, 3]) await fail();
  for (let attempt = 1; attempt <= 10; attempt++) {
    await tick();
    advanceClock(10 * HOUR);
  }
  const dead = await listDeliveries(alert.id, '?status=dead&limit=2');
  expect(dead).toHaveLength(2);
  expect(await listDeliveries(alert.id, '?status=dead&limit=1&offset=1')).toMatchObject([{ id: dead[1].id }]);
  answers.delete(alert.path);
  await admin.post(`/api/alerts/${alert.id}/deliveries/${dead[0].id}/replay`).expect(202);
  const { body: tooEarly } = await admin.post(`/api/alerts/${alert.id}/deliveries/${dead[0].id}/replay`).expect(409);
  expect(tooEarly.code).toBe('not_ended');
  await tick();
  const { body } = await admin.post(`/api/alerts/${alert.id}/deliveries/replay-dead`).expect(202);
  expect(body).toEqual({ replayed: 2, has_more: false });
  await tick();
  expect(await listDeliveries(alert.id, '?status=delivered')).toHaveLength(3);
  await admin.post(`/api/alerts/${alert.id}/deliveries/${dead[0].id}/replay`).expect(202);
  await tick();
  expect(at(alert.path).filter(({ headers }) => headers['webhook-id'] === dead[0].id)).toHaveLength(12);
  await admin.post(`/api/alerts/${alert.id}/deliveries/dlv_unknown/replay`).expect(404);
});

test('410 switches the alert off, records why, and ends pending deliveries', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 503);
  await fail();
  await tick();
  respondWith(alert.path, 410);
  await fail();
  await tick();
  const { body } = await admin.get(`/api/alerts/${alert.id}`).expect(200);
  expect(body).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining('410') });
  expect((await listDeliveries(alert.id)).map(({ status }: { status: string }) => status)).toEqual(['dead', 'dead']);
  const replay = await admin.post(`/api/alerts/${alert.id}/deliveries/replay-dead`).expect(409);
  expect(replay.body.code).toBe('alert_disabled');
  const enabled = await admin.patch(`/api/alerts/${alert.id}`, { enabled: true }).expect(200);
  expect(enabled.body.disabled_reason).toBeNull();
});

test('switching an alert off ends its deliveries', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 500);
  await fail();
  await tick();
  await admin.patch(`/api/alerts/${alert.id}`, { enabled: false }).expect(200);
  advanceClock(HOUR);
  expect(await tick()).toBe(0);
  expect((await listDeliveries(alert.id))[0].status).toBe('dead');
});

test('an alert that is switched off while it is being raised sends nothing', async () => {
  const alert = await createAlert();
  const client = await api.database.pool.connect();
  await client.query('BEGIN');
  await raiseAlerts(client, {
    workspaceId: api.workspaceId,
    eventId: newId('evt_'),
    type: 'run.failed',
    about: { workerUid: worker.uid },
    at: clock,
    now: clock,
    depth: 0,
    occurrence: { worker_id: worker.id, worker_name: null, automation_id: null },
  });
  const switchedOff = admin.patch(`/api/alerts/${alert.id}`, { enabled: false }).then(({ status }) => status);
  const blocked = 'SELECT 1 FROM pg_stat_activity WHERE wait_event_type = $1 AND query LIKE $2';
  await waitUntil(async () => (await api.database.pool.query(blocked, ['Lock', '%FROM alerts%'])).rowCount);
  await client.query('COMMIT');
  client.release();
  expect(await switchedOff).toBe(200);
  expect(await tick()).toBe(0);
  expect((await listDeliveries(alert.id))[0].status).toBe('dead');
});

test('a redirect is a failure and is not followed', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 302, '', { location: `${receiverUrl}/elsewhere` });
  await fail();
  await tick();
  expect((await listDeliveries(alert.id))[0].attempts[0]).toMatchObject({
    status: 302,
    error: expect.stringContaining('redirect'),
  });
  expect(at('/elsewhere')).toEqual([]);
});

test('an address that becomes private later is refused when it is used, too', async () => {
  const alert = await createAlert();
  await api.database.pool.query("UPDATE alerts SET url = 'http://10.0.0.1:8080/' WHERE id = $1", [alert.id]);
  await fail();
  await tick();
  const [{ attempts }] = await listDeliveries(alert.id);
  expect(attempts[0]).toMatchObject({ status: null, error: '10.0.0.1:8080 is not on the public internet' });
});

test('only the beginning of a receiver’s response is stored', async () => {
  const alert = await createAlert();
  respondWith(alert.path, 200, `\u0000${'x'.repeat(1_000_000)}`);
  await fail();
  await tick();
  const [{ status, attempts }] = await listDeliveries(alert.id);
  expect(status).toBe('delivered');
  expect(attempts[0].response).toHaveLength(500);
});

test('an unresponsive receiver delays no other ones, and takes no more than its share', async () => {
  const silent = await createAlert();
  const brisk = await createAlert();
  const held: ServerResponse[] = [];
  answers.set(silent.path, (_, res) => held.push(res));
  for (let i = 0; i < 10; i++) await fail();
  const ticking = tick();
  await waitUntil(() => at(brisk.path).length === 10);
  await waitUntil(() => held.length === 4);
  expect(at(silent.path)).toHaveLength(4);
  answers.delete(silent.path);
  for (const res of held) res.writeHead(204).end();
  await ticking;
  expect(at(silent.path)).toHaveLength(10);
});

test('two replicas send each delivery once', async () => {
  const alert = await createAlert();
  for (let i = 0; i < 20; i++) await fail();
  const other = await api.replica();
  await Promise.all([tick(), other.deps.deliveryLoop.tick()]);
  const ids = at(alert.path).map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(20);
  expect(new Set(ids).size).toBe(20);
});

test('a process that dies after sending leaves a delivery that is sent once more under the same id', async () => {
  const alert = await createAlert();
  await fail();
  const leaseUntil = new Date(clock.getTime() + 60_000);
  const claimed = await claimDeliveries(api.database.pool, { now: clock, leaseUntil, limit: 10, exceptAlerts: [] });
  for (const delivery of claimed) await sendDelivery(api.deps, delivery);
  expect(await tick()).toBe(0);
  advanceClock(61_000);
  await tick();
  const ids = at(alert.path).map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
  expect((await listDeliveries(alert.id))[0].status).toBe('delivered');
});

test('alerts of a deleted workspace wait, in case it is restored', async () => {
  const alert = await createAlert();
  await fail();
  const closure = { workspaceId: api.workspaceId, purgeAt: Date.now() };
  await upsertClosure(api.database.pool, { ...closure, restored: false });
  expect(await tick()).toBe(0);
  await upsertClosure(api.database.pool, { ...closure, restored: true });
  await tick();
  expect(at(alert.path)).toHaveLength(1);
});

test('the test sends a sample now and reports the result, and stores nothing', async () => {
  const alert = await createAlert({ email_to: 'tester@example.com', enabled: false });
  const good = await admin.post(`/api/alerts/${alert.id}/test`).expect(200);
  expect(good.body).toMatchObject({
    ok: true,
    status: 204,
    error: null,
    channels: [{ channel: 'webhook' }, { channel: 'email' }],
  });
  const [message] = at(alert.path);
  const payload = new Webhook(alert.secret).verify(message?.body ?? '', message?.headers ?? {});
  expect(payload).toMatchObject({ type: 'run.failed', data: { test: true, worker_id: worker.id } });
  expect(await mail.messageTo('tester@example.com')).toContain('This is a test alert');
  respondWith(alert.path, 404);
  const bad = await admin.post(`/api/alerts/${alert.id}/test`).expect(200);
  expect(bad.body).toMatchObject({ ok: false, status: 404, error: 'answered 404' });
  expect(await listDeliveries(alert.id)).toEqual([]);
});

test('the log is read page by page', async () => {
  const alert = await createAlert();
  for (let i = 0; i < 3; i++) {
    await fail();
    advanceClock(1_000);
  }
  const first = await admin.get(`/api/alerts/${alert.id}/deliveries?limit=2`).expect(200);
  expect(first.headers['x-has-more']).toBe('true');
  const [, next = ''] = /^<([^>]+)>/.exec(first.headers.link ?? '') ?? [];
  const second = await admin.get(next).expect(200);
  const seen = [...first.body, ...second.body].map(({ id }: { id: string }) => id);
  expect(new Set(seen).size).toBe(3);
  expect(second.headers['x-has-more']).toBe('false');
  await admin.get(`/api/alerts/${alert.id}/deliveries?before_id=dlv_1`).expect(400);
  await tick();
});

test('an email says what failed, where and why, links to the run and says how to unsubscribe', async () => {
  const alert = await createAlert({ url: undefined, email_to: ' OnCall@Example.com', description: 'Nightly report' });
  expect(alert.secret).toBeUndefined();
  const run = buildFailedRun({ errorMessage: 'ConnectionError: no route\nX-Injected: yes' });
  await announce(runFinished, run);
  await tick();
  const message = await mail.messageTo('oncall@example.com');
  expect(message).toContain('Subject: Made by a test failed: ConnectionError: no route\r\n');
  expect(message).toContain(`Look:       http://dashboard.test/runs/${run.runId}`);
  expect(message).toContain('Nightly report');
  expect(message).toContain(`PATCH /api/alerts/${alert.id} {"enabled": false}`);
  expect(message.slice(0, message.indexOf('\r\n\r\n'))).not.toContain('X-Injected');
  expect((await listDeliveries(alert.id))[0]).toMatchObject({ channel: 'email', status: 'delivered' });
});

test('an alert that is raised all the time does not fill a mailbox: after a hundred in an hour its emails become dead letters', async () => {
  const alert = await createAlert({ url: undefined, email_to: 'flooded@example.com' });
  await api.database.pool.query(
    `INSERT INTO alert_deliveries (id, alert_id, workspace_id, event_id, channel, type, payload, status, created_at)
     SELECT 'dlv_' || i, $1, $2, 'evt_' || i, 'email', 'run.failed', '{}', 'delivered', $3 FROM generate_series(1, 100) i`,
    [alert.id, api.workspaceId, clock],
  );
  await fail();
  const [held] = await listDeliveries(alert.id, '?status=dead');
  expect(held.attempts).toMatchObject([{ error: expect.stringContaining('100 emails per hour') }]);
  expect(await tick()).toBe(0);
  advanceClock(HOUR + 1_000);
  await fail();
  expect(await tick()).toBe(1);
  expect(mail.recipients.filter((to) => to === 'flooded@example.com')).toHaveLength(1);
});

test('an email that could not be sent is retried, and the log says why', async () => {
  const alert = await createAlert({ url: undefined, email_to: 'late@example.com' });
  await fail();
  const { log } = api.deps;
  const mailer = createMailer({ smtpUrl: 'smtp://127.0.0.1:1', from: 'Gantry <gantry@api.test>', log });
  await startDeliveryLoop({ ...api.deps, mailer }, { auto: false }).tick();
  const [pending] = await listDeliveries(alert.id);
  expect(pending).toMatchObject({
    status: 'pending',
    attempts: [{ error: expect.stringContaining("can't be reached") }],
  });
  expect(pending.attempts[0].error).not.toContain('127.0.0.1');
});
