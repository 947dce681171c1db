/** Metrics of the built services at /metrics, where operators see what they must hear of; and their traces. */
import fs from 'node:fs';
import path from 'node:path';
import { type ApiCall, createApiClient } from '../api-client';
import { setupResource } from '../setup-resource';
import { type Stack, startStack } from '../stack';
import { waitUntil } from '../wait-until';
import { type Family, type Sample, scrape } from './exposition';
import { listMetrics, root } from './metrics-table';
import { startSpanReceiver } from './span-receiver';
import { buildTracingEnv, testTraces } from './test-traces';

const receiver = setupResource(startSpanReceiver, (started) => started.stop());
const stack = setupResource<Stack>(
  () => startStack({ skillsApi: true, gateway: true, env: buildTracingEnv(receiver) }),
  (started) => started.stop(),
);
const OURS = /^gantry_/;

let call: ApiCall;
/** Ids and names that this test has made: no label may hold any of them. */
const ids: string[] = [];

beforeAll(async () => {
  call = createApiClient(stack.workerUrls[0] as string, stack.token);
  await createWorker('fine', 'def run(n):\n    return n\n');
  await createWorker('broken', 'def run(n):\n    raise ValueError(n)\n');
  for (const worker of ['fine', 'broken']) {
    const { body } = await call('POST', `/api/workers/${worker}/runs`, { inputs: { n: 1 } });
    ids.push(body.run_id);
    await waitUntil(async () =>
      ['completed', 'failed'].includes((await call('GET', `/api/runs/${body.run_id}`)).body.status),
    );
  }
  expect((await call('GET', '/no/such/path')).status).toBe(404);
  ids.push(stack.workspaceId, 'fine', 'broken');
});

async function createWorker(id: string, content: string): Promise<void> {
  const inputs = [{ name: 'n', type: 'integer' }];
  const { status } = await call('POST', '/api/workers', {
    id,
    name: id,
    inputs,
    files: [{ path: 'main.py', content }],
  });
  expect(status).toBe(201);
}

const scrapeAll = () =>
  Promise.all(
    stack.metricsUrls.map(async ({ service, url }) => ({ service, families: await metricsAt(service, url) })),
  );

/** The executor serves its metrics beside its health. */
const metricsAt = (service: string, url: string): Promise<Family[]> =>
  scrape(service === 'executor' ? `${stack.executorUrls[0]}/metrics` : url);

async function readSamples(service: string, name: string): Promise<Sample[]> {
  const { url } = stack.metricsUrls.find((found) => found.service === service) as { url: string };
  return (await metricsAt(service, url)).find((family) => family.name === name)?.samples ?? [];
}

async function readMetric(
  service: string,
  name: string,
  labels: Record<string, string> = {},
): Promise<number | undefined> {
  const wanted = Object.entries(labels);
  return (await readSamples(service, name)).find((sample) =>
    wanted.every(([label, text]) => sample.labels[label] === text),
  )?.value;
}

test('docs/operations/metrics.md lists every metric of every service, and no other', async () => {
  const listed = listMetrics();
  for (const { service, families } of await scrapeAll()) {
    const expected = listed.filter(({ services }) => services.includes(service));
    const found = families.filter(({ name }) => OURS.test(name));
    expect(found.map(({ name, type, help }) => [service, name, type, help]).sort()).toEqual(
      expected.map(({ name, type, help }) => [service, name, type, help]).sort(),
    );
    for (const { name, samples } of found) {
      const { labels = [] } = expected.find((metric) => metric.name === name) ?? {};
      for (const sample of samples) {
        const used = Object.keys(sample.labels).filter((label) => label !== 'le');
        expect({ name, unlisted: used.filter((label) => !labels.includes(label)) }).toEqual({ name, unlisted: [] });
      }
    }
  }
});

test('metrics of Node that dashboards, alerts and runbooks query exist', async () => {
  const files = ['observability/dashboards', 'observability/rules', 'docs/runbooks'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name)),
  );
  const asked = files.flatMap((file) => fs.readFileSync(file, 'utf8').match(/\b(nodejs|process)_[a-z0-9_]+/g) ?? []);
  expect(asked.length).toBeGreaterThan(0);
  for (const { families } of await scrapeAll()) {
    const names = families.map(({ name }) => name);
    expect(asked.filter((metric) => !names.includes(metric.replace(/_(sum|count|bucket)$/, '')))).toEqual([]);
  }
});

test('names say what is counted, in base units', async () => {
  for (const { families } of await scrapeAll()) {
    for (const { name, type, help } of families.filter((family) => OURS.test(family.name))) {
      expect(name).toMatch(/^gantry_[a-z]+(_[a-z]+)*$/);
      expect(help).toMatch(/\w+ \w+/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|kb|mb|percent|count|sum|bucket)(_|$)/);
    }
  }
});

test('no label has an id, a path or an address, and none has many values', async () => {
  for (const { service, families } of await scrapeAll()) {
    for (const { name, samples } of families.filter((family) => OURS.test(family.name))) {
      const values = new Map<string, Set<string>>();
      for (const { labels } of samples) {
        for (const [label, text] of Object.entries(labels).filter(([key]) => key !== 'le')) {
          values.set(label, (values.get(label) ?? new Set()).add(text));
          // Words only: an id has digits amid its letters. A consumer ends in its event's version.
          expect(`${service} ${name} ${label}=${text}`).toMatch(/=([a-zA-Z_-]*|[a-z_-]+-v\d|[1-5]xx)$/);
          expect(ids).not.toContain(text);
        }
      }
      for (const [label, found] of values) expect([name, label, found.size < 300]).toEqual([name, label, true]);
    }
  }
});

test('requests are counted by operation, method and class of status', async () => {
  const counted = (await readSamples('worker-api', 'gantry_http_request_duration_seconds')).filter(({ name }) =>
    name.endsWith('_count'),
  );
  expect(counted.map(({ labels }) => labels)).toEqual(
    expect.arrayContaining([
      { operation: 'createWorker', method: 'POST', status: '2xx' },
      { operation: 'none', method: 'OTHER', status: '4xx' },
    ]),
  );
});

test('runs are counted by their end, and their waiting and running is timed', async () => {
  const source = 'worker';
  const runs: { status: string }[] = JSON.parse((await call('GET', '/api/runs')).body);
  const completed = runs.filter(({ status }) => status === 'completed').length;
  const failed = { source, status: 'failed', code: 'exception' };
  expect(completed).toBeGreaterThan(0);
  expect(await readMetric('worker-api', 'gantry_runs_ended_total', failed)).toBe(1);
  expect(await readMetric('worker-api', 'gantry_runs_ended_total', { source, status: 'completed' })).toBe(completed);
  const count = async (name: string) =>
    (await readSamples('worker-api', name))
      .filter((sample) => sample.name.endsWith('_count'))
      .map(({ value }) => value);
  expect(await count('gantry_run_wait_seconds')).toEqual([completed + 1]);
  expect((await count('gantry_run_duration_seconds')).sort()).toEqual([1, completed]);
});

test('without executors the age of the queue grows, and the queue empties once one is back', async () => {
  const [executor] = stack.parts.executors as [Stack['parts']['executors'][0]];
  const free = { source: 'worker', limited: 'false' };
  const oldest = () => readMetric('worker-api', 'gantry_queue_oldest_wait_seconds', free);
  expect(await oldest()).toBe(0);
  await executor.stop();
  const { body: run } = await call('POST', '/api/workers/fine/runs', { inputs: { n: 2 } });
  await waitUntil(async () => ((await oldest()) ?? 0) > 1, { everyMs: 200 });
  expect(await readMetric('worker-api', 'gantry_queue_runs', free)).toBe(1);
  expect(await readMetric('worker-api', 'gantry_queue_runs', { ...free, limited: 'true' })).toBe(0);
  await executor.start();
  await waitUntil(async () => (await readMetric('worker-api', 'gantry_queue_runs', free)) === 0);
  await waitUntil(async () => (await call('GET', `/api/runs/${run.run_id}`)).body.status === 'completed');
});

test('while NATS is down, it is shown as down and the age of the outbox grows, until it is back', async () => {
  const oldest = () => readMetric('worker-api', 'gantry_outbox_oldest_seconds');
  await stack.parts.nats.kill();
  expect((await call('PATCH', '/api/workers/fine', { name: 'Finer' })).status).toBe(200);
  await waitUntil(async () => ((await oldest()) ?? 0) > 1, { everyMs: 200 });
  expect(await readMetric('worker-api', 'gantry_dependency_up', { dependency: 'nats' })).toBe(0);
  expect(await readSamples('worker-api', 'gantry_stream_bytes')).toEqual([]);
  await stack.parts.nats.restart();
  await waitUntil(async () => (await oldest()) === 0, { everyMs: 200 });
  expect(await readMetric('worker-api', 'gantry_dependency_up', { dependency: 'nats' })).toBe(1);
});

test('while PostgreSQL is frozen, it is shown as down and no metrics of its content are exported', async () => {
  const reaches = () => readMetric('worker-api', 'gantry_dependency_up', { dependency: 'postgres' });
  stack.parts.postgres.pause();
  try {
    await waitUntil(async () => (await reaches()) === 0);
    expect(await readSamples('worker-api', 'gantry_queue_runs')).toEqual([]);
    expect(await readSamples('worker-api', 'gantry_outbox_oldest_seconds')).toEqual([]);
  } finally {
    stack.parts.postgres.resume();
  }
  await waitUntil(async () => (await reaches()) === 1);
});

/** Behind the tests above, which count runs. */
describe('traces', () => testTraces(stack, receiver));
