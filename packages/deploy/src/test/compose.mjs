/**
 * `npm run test:compose`: docker-compose.yml with a real daemon, as a project of its own at ports of its own. Images
 * are built unless COMPOSE_BUILD=never. Everything is removed at the end.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { becomeOwner, runWalkthrough } from './walkthrough.mjs';

const root = path.resolve(import.meta.dirname, '../../../..');
const PORTS = { WORKER_PORT: '18080', DASHBOARD_PORT: '18081', SKILLS_PORT: '18082' };
const base = `http://localhost:${PORTS.WORKER_PORT}`;
const dashboard = `http://localhost:${PORTS.DASHBOARD_PORT}`;
const skills = `http://localhost:${PORTS.SKILLS_PORT}`;
const env = { ...process.env, ...PORTS, BASE_URL: base, DASHBOARD_URL: dashboard, SKILLS_URL: skills };
const BUILD_MS = 1_800_000;
const DEADLINE_MS = 180_000;

const run = promisify(execFile);
const docker = async (...args) => (await run('docker', args, { cwd: root, env, maxBuffer: 64 << 20 })).stdout;
const compose = (...args) => docker('compose', '--project-name', 'gantry-test', ...args);

async function until(what, check, deadline = Date.now() + DEADLINE_MS) {
  for (let last = 'nothing yet'; ; await delay(500)) {
    try {
      const found = await check();
      if (found) return found;
    } catch (err) {
      last = err.message;
    }
    if (Date.now() > deadline) throw new Error(`${what}: ${last}\n${await compose('ps', '--all')}`);
  }
}

let token;
async function api(place, body) {
  const answer = await fetch(`${place.startsWith('http') ? '' : base}${place}`, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${place} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

const up = (...args) => compose('up', '--detach', ...args);
const isReady = () => until('the gateway is ready', async () => (await fetch(`${base}/health`)).ok);
const containersOf = async (service) => (await compose('ps', '--quiet', service)).trim().split('\n').filter(Boolean);
const executorsOnline = async () => (await api('/api/system/overview')).executors.length;

const PROGRAM = { path: 'main.py', content: 'def run(number):\n    return {"double": 2 * int(number)}\n' };
const createWorker = () =>
  api('/api/workers', { name: 'Double', trigger: 'manual', inputs: ['number'], outputs: ['double'], files: [PROGRAM] });

async function runs(worker, count) {
  const started = await Promise.all(
    Array.from({ length: count }, (_, number) =>
      api(`/api/workers/${worker}/runs`, { inputs: { number: `${number}` } }),
    ),
  );
  for (const [number, { run_id }] of started.entries()) {
    const ended = await until(`run ${run_id} ends`, async () => {
      const found = await api(`/api/runs/${run_id}`);
      return ['queued', 'running'].includes(found.status) ? undefined : found;
    });
    assert.deepEqual([ended.status, ended.output?.double ?? ended.outputs?.double], ['completed', 2 * number]);
  }
}

after(() => compose('down', '--volumes', '--remove-orphans', '--timeout', '5'));

let worker;
test('a clone comes up, and prints how its first owner signs in', { timeout: BUILD_MS }, async () => {
  await compose('down', '--volumes', '--remove-orphans');
  await up(...(process.env.COMPOSE_BUILD === 'never' ? ['--no-build'] : ['--build']));
  const [, setupToken] = await until('setup prints the link', async () =>
    /\/setup#(\S+)/.exec(await compose('logs', 'setup')),
  );
  token = await becomeOwner({ base, setupToken });
  assert.match(await compose('run', '--rm', 'setup'), /has an owner/);
});

test('the walkthrough of docs/first-worker.md works through the gateway', { timeout: DEADLINE_MS }, () =>
  runWalkthrough({ base, dashboard, token }),
);

test('every process is an ordinary user without capabilities on a root that it cannot write', async () => {
  for (const service of ['worker-api', 'automation-api', 'skills-api', 'executor', 'gateway']) {
    const status = await compose('exec', service, 'node', '-p', "fs.readFileSync('/proc/1/status', 'utf8')");
    assert.match(status, /^Uid:\s+10001\s+10001/m);
    assert.match(status, /^CapBnd:\s+0000000000000000/m);
    assert.match(status, /^NoNewPrivs:\s+1/m);
    await assert.rejects(compose('exec', service, 'node', '-e', "fs.writeFileSync('/app/x', '')"), /EROFS|read-only/);
  }
});

test('executors reach neither the databases nor the gateway', async () => {
  const lookUp = (name) =>
    compose('exec', 'executor', 'node', '-e', `dns.lookup('${name}', (err) => process.exit(err ? 1 : 0))`);
  await lookUp('nats');
  for (const name of ['postgres', 'skills-api', 'gateway']) await assert.rejects(lookUp(name));
});

test('a service is scaled, and every replica takes part', { timeout: 2 * DEADLINE_MS }, async () => {
  await up('--no-build', '--scale', 'executor=3', '--scale', 'worker-api=2');
  await until('three executors are online', async () => (await executorsOnline()) === 3);
  worker = (await createWorker()).id;
  await runs(worker, 60);
});

test('requests go on while one of two replicas is killed, and its runs come to their end', {
  timeout: DEADLINE_MS,
}, async () => {
  const [first] = await containersOf('worker-api');
  await docker('kill', first);
  for (let i = 0; i < 20; i++) await api('/api/workers');
  const [executor] = await containersOf('executor');
  await docker('kill', executor);
  await runs(worker, 20);
});

test('PostgreSQL and NATS come back, and so does everything that needs them', {
  timeout: 2 * DEADLINE_MS,
}, async () => {
  await compose('kill', 'nats', 'postgres');
  await up('--no-build', '--scale', 'executor=3', '--scale', 'worker-api=2');
  await isReady();
  await until('runs are accepted', () => runs(worker, 1).then(() => true));
});

test('an executor that is told to go ends its run first, and starts again', { timeout: DEADLINE_MS }, async () => {
  await up('--no-build', '--scale', 'executor=1', '--scale', 'worker-api=1');
  const slow = {
    path: 'main.py',
    content: 'import time\n\ndef run():\n    time.sleep(5)\n    return {"ended": True}\n',
  };
  const { id } = await api('/api/workers', { name: 'Slow', trigger: 'manual', outputs: ['ended'], files: [slow] });
  const { run_id } = await api(`/api/workers/${id}/runs`, { inputs: {} });
  await until('the run has begun', async () => (await api(`/api/runs/${run_id}`)).status === 'running');
  await compose('exec', 'executor', 'node', '-e', "process.kill(1, 'SIGTERM')");
  await until('the run ends', async () => (await api(`/api/runs/${run_id}`)).status === 'completed');
  await until('the executor is back', () => runs(worker, 1).then(() => true));
});

test('down and up again, and everything is as it was', { timeout: 2 * DEADLINE_MS }, async () => {
  const before = (await api('/api/workers')).length;
  await compose('down');
  await up('--no-build');
  await isReady();
  assert.equal((await api('/api/workers')).length, before);
  await runs(worker, 5);
  await until('setup has ended', async () => /has an owner/.test(await compose('logs', 'setup')));
});
