/** The platform on a real cluster. `npm run test:cluster`; see docs/operations/kubernetes.md. */
import os from 'node:os';
import path from 'node:path';
import { waitUntil } from '@gantry/testing';
import {
  apis,
  closePortForwards,
  countRestarts,
  createAlert,
  createWorker,
  hasResource,
  type Installation,
  install,
  listAlertedRuns,
  openPortForwards,
  runWalkthrough,
  signIn,
  startRun,
  waitUntilEnded,
} from './installation';
import { getObject, kubectl, listObjects, listPods, waitForRollout } from './kubectl';
import { type Load, startLoad } from './load';

const NAP_CODE = 'import time\n\ndef run(n):\n    time.sleep(0.3)\n    return {"n": n}\n';
const LONG_NAP_CODE = 'import time\n\ndef run(seconds):\n    time.sleep(seconds)\n    return {"slept": seconds}\n';
const GREEDY_CODE = 'def run():\n    held = []\n    while True:\n        held.append(bytearray(10_000_000))\n';
const ALL = [
  ...apis.map((name) => ['gantry', name]),
  ['gantry', 'deployment/gateway'],
  ['gantry-runs', 'deployment/executor'],
] as [string, string][];

const dir = process.env.INSTALLATION_DIR ?? path.join(os.tmpdir(), 'gantry-cluster');
let gantry: Installation;
let nap: string;
let image: string;

beforeAll(async () => {
  await install(dir);
  await openPortForwards();
  gantry = await signIn(dir);
  image =
    listObjects('jobs', '-n', 'gantry').find(({ metadata }) => metadata.name.startsWith('generate-secrets'))?.spec
      .template.spec.containers[0].image ??
    getObject('daemonset', 'executor-seccomp', '-n', 'gantry-node').spec.template.spec.containers[0].image;
  // The load below is one credential's: what it may do in a minute is not the question here.
  for (const name of apis)
    kubectl([
      'set',
      'env',
      '-n',
      'gantry',
      name,
      '-c',
      'api',
      'RATE_LIMIT_REQUESTS_PER_MINUTE=100000',
      'RATE_LIMIT_RUNS_PER_MINUTE=100000',
    ]);
  for (const name of apis) waitForRollout('gantry', name);
  nap = await createWorker(gantry.worker, `Nap ${Date.now()}`, NAP_CODE, { inputs: [{ name: 'n', type: 'integer' }] });
});

afterAll(() => closePortForwards());

const waitUntilSettled = () => {
  for (const [namespace, object] of ALL) waitForRollout(namespace, object);
};

/** Finds the longest time without one of these, which are in milliseconds. */
function findLongestPauseMs(times: number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(...sorted.slice(1).map((time, index) => time - (sorted[index] ?? time)));
}

/** Waits until so many more runs of the load have been accepted. */
async function waitUntilRunsAccepted(load: Load, more: number): Promise<void> {
  const before = load.sofar().runs.length;
  await waitUntil(() => load.sofar().runs.length >= before + more, {
    deadlineMs: 60_000,
    everyMs: 500,
    what: `${more} more runs are accepted`,
  });
}

/** Every request of a client was answered, and every run that was accepted has ended well. */
async function assertNoRunLost(load: Load): Promise<{ requests: number; runs: number }> {
  const { requests, failures, runs } = load.stop();
  expect(failures).toEqual([]);
  await openPortForwards();
  const ends = await Promise.all(runs.map((run) => waitUntilEnded(gantry.worker, run)));
  expect(ends.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(runs.length).toBeGreaterThan(20);
  return { requests, runs: runs.length };
}

test('the walkthrough in docs/first-worker.md works through the gateway', () => {
  const output = runWalkthrough(dir);
  expect(output).toContain('event: done');
  expect(output).toContain('"words":4');
  expect(output).toContain('division by zero');
  expect(output).toMatch(/http:\/\/localhost:8081\/\S+/);
  expect(output).toContain('Hello, Ada!');
});

test.each(ALL)('%s/%s is restarted under load without a failed request or a lost run', async (namespace, object) => {
  const load = await startLoad({ token: gantry.token, worker: nap, image });
  await waitUntilRunsAccepted(load, 10);
  kubectl(['rollout', 'restart', '-n', namespace, object]);
  waitForRollout(namespace, object, 400);
  await waitUntilRunsAccepted(load, 10);
  const { requests, runs } = await assertNoRunLost(load);
  process.stderr.write(`  ${object}: ${requests} requests, ${runs} runs\n`);
});

test('an executor that is told to stop lets its runs finish, and a new one takes the next run', async () => {
  const sleeper = await createWorker(gantry.worker, `Sleeper ${Date.now()}`, LONG_NAP_CODE, {
    inputs: [{ name: 'seconds', type: 'integer' }],
  });
  const run = await startRun(gantry.worker, sleeper, { seconds: 40 });
  await waitUntil(async () => (await gantry.worker('GET', `/api/runs/${run}`)).body.status === 'running', {
    deadlineMs: 20_000,
    everyMs: 200,
    what: 'it runs',
  });
  kubectl(['rollout', 'restart', '-n', 'gantry-runs', 'deployment/executor']);
  waitForRollout('gantry-runs', 'deployment/executor', 200);
  expect(await waitUntilEnded(gantry.worker, run)).toMatchObject({ status: 'completed', attempt: 1 });
});

test.each(ALL)('after %s/%s loses a Pod without warning, the platform keeps running', async (namespace, object) => {
  const name = object.replace('deployment/', '');
  const [victim] = listPods(namespace, name);
  kubectl(['delete', 'pod', '-n', namespace, victim?.metadata.name ?? '', '--force', '--grace-period=0']);
  waitForRollout(namespace, object);
  await openPortForwards();
  const run = await waitUntil(() => startRun(gantry.worker, nap, { n: 1 }), {
    deadlineMs: 60_000,
    everyMs: 500,
    what: 'a run is accepted',
  });
  expect(await waitUntilEnded(gantry.worker, run)).toMatchObject({ status: 'completed' });
});

test.each(['postgres', 'nats'])('after %s loses its Pod under load, no accepted run or alert is lost', async (name) => {
  const listWorkerIds = async () => {
    const { body } = await gantry.worker('GET', '/api/workers?limit=200');
    return JSON.parse(body).map(({ id }: { id: string }) => id);
  };
  const before = await listWorkerIds();
  const alert = await createAlert(gantry.worker, nap);
  const load = await startLoad({ token: gantry.token, worker: nap, image });
  await waitUntilRunsAccepted(load, 20);
  // Not by force: a successor would start on the volume of one that still runs.
  kubectl(['delete', 'pod', '-n', 'gantry', `${name}-0`, '--grace-period=1']);
  waitForRollout('gantry', `statefulset/${name}`);
  await waitUntilRunsAccepted(load, 20);
  const { requests, failures, runs } = load.stop();
  // Reads and starts need no NATS to answer. Whatever needs PostgreSQL is answered by 503.
  const unexpected = failures.filter((line) => name === 'nats' || !line.includes(': 503 '));
  expect(unexpected).toEqual([]);
  await openPortForwards();
  const ends = await Promise.all(runs.map((run) => waitUntilEnded(gantry.worker, run)));
  expect(ends.filter(({ status }) => status !== 'completed')).toEqual([]);
  const alerted = await waitUntil(
    async () => {
      const found = await listAlertedRuns(gantry.worker, alert);
      return runs.every((run) => found.includes(run)) && found;
    },
    { deadlineMs: 60_000, everyMs: 500, what: 'every run has an alert' },
  );
  expect(new Set(alerted).size).toBe(alerted.length);
  expect(await listWorkerIds()).toEqual(before);
  await gantry.worker('DELETE', `/api/alerts/${alert}`);
  const pause = findLongestPauseMs(ends.map(({ completed_at }) => Date.parse(completed_at)));
  process.stderr.write(
    `  ${name}: ${requests} requests, ${failures.length} refused, ${runs.length} runs, longest pause ${pause} ms\n`,
  );
});

test('a second eviction is refused while the first replica is missing', () => {
  waitUntilSettled();
  const [one, two] = listPods('gantry', 'worker-api').map(({ metadata }) => metadata.name);
  const evict = (name = '') =>
    kubectl(['create', '--raw', `/api/v1/namespaces/gantry/pods/${name}/eviction`, '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: 'gantry' } }),
    });
  evict(one);
  expect(() => evict(two)).toThrow(/disruption budget/);
  waitForRollout('gantry', 'deployment/worker-api');
});

test('each service scales independently', async () => {
  for (const name of ['worker-api', 'automation-api', 'skills-api', 'gateway']) {
    kubectl(['patch', 'hpa', '-n', 'gantry', name, '--type=merge', '-p', '{"spec":{"minReplicas":3}}']);
    await waitUntil(() => getObject('deployment', '-n', 'gantry', name).status.readyReplicas === 3, {
      deadlineMs: 120_000,
      everyMs: 500,
      what: `${name} has 3`,
    });
    kubectl(['patch', 'hpa', '-n', 'gantry', name, '--type=merge', '-p', '{"spec":{"minReplicas":2}}']);
  }
  kubectl(['scale', '-n', 'gantry-runs', 'deployment/executor', '--replicas=2']);
  waitForRollout('gantry-runs', 'deployment/executor');
  const getOverview = () => gantry.worker('GET', '/api/system/overview');
  await openPortForwards();
  const two = await waitUntil(
    async () => {
      const { body } = await getOverview();
      return body?.executors?.length >= 2 && body;
    },
    { deadlineMs: 60_000, everyMs: 500, what: 'the overview lists two executors' },
  );
  expect(two.executors.length).toBeGreaterThanOrEqual(2);
  kubectl(['scale', '-n', 'gantry-runs', 'deployment/executor', '--replicas=1']);
});

test('a run that exhausts its memory fails without affecting others', async () => {
  waitUntilSettled();
  const greedy = await createWorker(gantry.worker, `Greedy ${Date.now()}`, GREEDY_CODE, {
    limits: { memory_mb: 128, timeout_seconds: 60 },
  });
  const before = countRestarts();
  const [bad, good] = await Promise.all([startRun(gantry.worker, greedy), startRun(gantry.worker, nap, { n: 1 })]);
  expect(await waitUntilEnded(gantry.worker, bad)).toMatchObject({ status: 'failed', error_code: 'out_of_memory' });
  expect(await waitUntilEnded(gantry.worker, good)).toMatchObject({ status: 'completed' });
  for (const [pod, count] of Object.entries(countRestarts()))
    expect({ pod, count }).toEqual({ pod, count: before[pod] ?? 0 });
});

/** @param cpu that worker-api's replicas use on average, where its autoscaler is content */
function setCpuTarget(cpu: string) {
  const patch = [{ op: 'replace', path: '/spec/metrics/0/resource/target/averageValue', value: cpu }];
  kubectl(['patch', 'hpa', '-n', 'gantry', 'worker-api', '--type=json', '-p', JSON.stringify(patch)]);
}

const testWithMetrics = hasResource('apiservice/v1beta1.metrics.k8s.io') ? test : test.skip;
testWithMetrics('an API gets more replicas when its CPU load is high', async () => {
  setCpuTarget('100m');
  const load = await startLoad({ token: gantry.token, worker: nap, image, clients: 16, readsOnly: true });
  await waitUntil(() => getObject('hpa', '-n', 'gantry', 'worker-api').status.desiredReplicas > 2, {
    deadlineMs: 180_000,
    everyMs: 2_000,
    what: 'more replicas are requested',
  });
  expect(load.stop().failures).toEqual([]);
  setCpuTarget('700m');
});

const nodes = listObjects('nodes');
const whenSeveral = nodes.length > 1 ? test : test.skip;
if (nodes.length === 1) process.stderr.write('node drain skipped: the cluster has only one node\n');
whenSeveral('a node is drained without a failed request or a lost run', async () => {
  const load = await startLoad({ token: gantry.token, worker: nap, image });
  const gone = listPods('gantry', 'gateway')[0]?.spec.nodeName;
  kubectl(['drain', gone, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=300s'], { timeoutMs: 310_000 });
  await assertNoRunLost(load);
  kubectl(['uncordon', gone]);
});
