/**
 * Requests that the code of runs made to other hosts: read, followed, downloaded, and told of where a rule refused
 * one.
 */
import { type FakeEvent, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import type request from 'supertest';
import { createCaller } from '../test/caller';
import { createTestWorker, type MadeWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

type RequestEvent = Extract<FakeEvent, { type: 'request' }>;

const USER_REQUEST = {
  method: 'GET',
  scheme: 'https',
  host: 'api.github.com',
  port: 443,
  path: '/user',
  status: 200,
} as const;

const buildRequestEvent = (fields: Partial<RequestEvent> = {}): RequestEvent => ({
  type: 'request',
  ...USER_REQUEST,
  bytesSent: 312,
  bytesReceived: 20_480,
  durationMs: 184,
  credentials: ['github'],
  ...fields,
});
const RULE = "it is not in this worker's network.allow";
const buildRefusedEvent = (host: string): RequestEvent =>
  buildRequestEvent({
    host,
    method: null,
    path: null,
    status: null,
    bytesSent: 0,
    bytesReceived: 0,
    durationMs: 2,
    credentials: [],
    problem: { kind: 'refused', message: RULE },
  });
const failed = buildRequestEvent({
  status: null,
  problem: { kind: 'failed', message: 'it did not respond within 10 s' },
});

async function ran(worker: MadeWorker, ...events: FakeEvent[]): Promise<string> {
  const { run_id } = (await me.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201)).body;
  const job = await executor.claim();
  await job?.report({ type: 'started' }, ...events);
  await job?.report({ type: 'finished', status: 'completed', output: {}, usage: zeroUsage });
  await waitUntil(async () => (await me.get(`/api/runs/${run_id}`).expect(200)).body.status === 'completed');
  return run_id;
}

describe('of a run', () => {
  let runId: string;
  let worker: MadeWorker;
  beforeAll(async () => {
    worker = await createTestWorker(api);
    runId = await ran(
      worker,
      buildRequestEvent(),
      { type: 'log', stream: 'stdout', level: 'info', text: 'between' },
      buildRefusedEvent('evil.example.com'),
      failed,
      buildRequestEvent({ method: 'POST', host: 'NUL\u0000.example.com', credentials: [] }),
    );
  });
  const list = async (query = '') => (await me.get(`/api/runs/${runId}/requests?${query}`).expect(200)).body;

  test('are in the order in which they ended, with refused ones and their rules', async () => {
    const { body, headers } = await me.get(`/api/runs/${runId}/requests`).expect(200);
    expect(body).toMatchObject([
      {
        seq: 1_000_002,
        attempt: 1,
        ...USER_REQUEST,
        bytes_sent: 312,
        bytes_received: 20_480,
        duration_ms: 184,
        credentials: ['github'],
        problem: null,
      },
      { method: null, host: 'evil.example.com', problem: { kind: 'refused', message: RULE } },
      { status: null, problem: { kind: 'failed' } },
      { method: 'POST', host: 'NUL\u0000.example.com' },
    ]);
    expect([headers['x-has-more'], headers['x-truncated']]).toEqual(['false', 'false']);
    expect((await me.get(`/api/runs/${runId}`).expect(200)).body).toMatchObject({ logs_count: 1, requests_count: 4 });
  });

  test('are filtered by host and by problem, and paginated', async () => {
    expect(await list('host=API.GitHub.com')).toHaveLength(2);
    expect(await list('host=api.github.com&problem=failed')).toHaveLength(1);
    expect(await list('problem=refused')).toMatchObject([{ host: 'evil.example.com' }]);
    await me.get(`/api/runs/${runId}/requests?problem=slow`).expect(400);
    const first = await me.get(`/api/runs/${runId}/requests?limit=2&offset=1`).expect(200);
    expect([first.headers['x-has-more'], first.headers['x-next-after']]).toEqual(['true', '1000005']);
    const next = /<([^>]*)>; rel="next"/.exec(first.headers.link ?? '')?.[1] as string;
    const second = await me.get(next).expect(200);
    expect([...first.body, ...second.body].map(({ seq }) => seq)).toEqual([1_000_004, 1_000_005, 1_000_006]);
    expect(second.headers['x-has-more']).toBe('false');
  });

  test('are streamed live to members; visitors with a link see neither them nor their hosts', async () => {
    const told = (await me.get(`/api/runs/${runId}/events`).expect(200)).text;
    expect(told).toContain('event: request');
    const { token } = (await me.post(`/api/runs/${runId}/share-links`, {}).expect(201)).body;
    for (const path of [`/api/shared/${token}`, `/api/shared/${token}/events`]) {
      const text = await (await fetch(api.url + path)).text();
      expect(text).not.toContain('github');
      expect(text).not.toContain('evil.example.com');
    }
    expect((await fetch(`${api.url}/api/shared/${token}/requests`)).status).toBe(404);
  });

  test('are read by viewers, except of workers that they do not see', async () => {
    const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
    await viewer.get(`/api/runs/${runId}/requests`).expect(200);
    const hidden = await ran(
      await createTestWorker(api, { visibility: 'private', ownerId: api.owner.userId }),
      buildRequestEvent(),
    );
    await viewer.get(`/api/runs/${hidden}/requests`).expect(404);
    await me.get(`/api/runs/${hidden}/requests`).expect(200);
  });

  test('are in its download, if there are any', async () => {
    const binary = (res: request.Response, done: (err: Error | null, body: Buffer) => void) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => done(null, Buffer.concat(chunks)));
    };
    const downloadZip = async (id: string): Promise<Buffer> =>
      (
        await me
          .get(`/api/runs/${id}/download`)
          .buffer(true)
          .parse(binary as never)
          .expect(200)
      ).body;
    expect((await downloadZip(runId)).includes('requests.jsonl')).toBe(true);
    expect((await downloadZip(await ran(worker))).includes('requests.jsonl')).toBe(false);
  });
});

describe('that a rule refuses', () => {
  const deliveries = (alertId: string) =>
    api.deps.prisma.alertDelivery.findMany({ where: { alertId }, orderBy: { createdAt: 'asc' } });

  test('raise the alert that selects it once for each run, with host and rule, and no other alert', async () => {
    const worker = await createTestWorker(api);
    const createAlert = async (on: string[], about: object = { worker_id: worker.id }) =>
      (await me.post('/api/alerts', { on, url: 'https://hooks.example.com/a', ...about }).expect(201)).body
        .id as string;
    const [its, all, other] = [
      await createAlert(['network.refused']),
      await createAlert(['network.refused', 'run.failed'], {}),
      await createAlert(['run.failed', 'run.completed']),
    ];
    const runs = [
      await ran(worker, buildRequestEvent(), failed),
      await ran(
        worker,
        buildRefusedEvent('evil.example.com'),
        buildRefusedEvent('worse.example.com'),
        buildRefusedEvent('evil.example.com'),
      ),
      await ran(worker, buildRefusedEvent('worse.example.com')),
    ];
    await waitUntil(async () => (await deliveries(all)).length === 2 && (await deliveries(other)).length === 3);
    // Events of different runs are not ordered.
    const payloads = (await deliveries(its)).map(({ payload }) => payload as { data: { run_id: string } });
    payloads.sort((a, b) => runs.indexOf(a.data.run_id) - runs.indexOf(b.data.run_id));
    const buildExpected = (runId: string | undefined, host: string) => ({
      type: 'network.refused',
      data: { worker_id: worker.id, run_id: runId, request: { host, port: 443, reason: RULE } },
    });
    expect(payloads).toMatchObject([
      buildExpected(runs[1], 'evil.example.com'),
      buildExpected(runs[2], 'worse.example.com'),
    ]);
  });

  test('are not reported for automations, whose network has no rules', async () => {
    const { body } = await me
      .post('/api/alerts', {
        on: ['network.refused'],
        automation_id: 'aut_4f9KqL2mXw0aVbN7sTe1R',
        url: 'https://hooks.example.com/a',
      })
      .expect(400);
    expect(body.errors[0]).toMatchObject({ path: 'on' });
  });
});
