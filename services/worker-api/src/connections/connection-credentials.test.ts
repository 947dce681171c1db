/** With a fake executor, and a provider with bad habits: see test/fake-provider.ts. */
import { type FakeJob, setupResource, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { buildProviderOptions, startFakeProvider } from '../test/fake-provider';
import { type Person, testWorkerApi, withCookie } from '../test/test-worker-api';
import { untilEnded } from '../test/until-ended';

let clock = Date.now();
const provider = setupResource(startFakeProvider, ({ stop }) => stop());
const api = testWorkerApi(() => buildProviderOptions(provider, () => clock));
const executor = setupResource(() => api.connectExecutor());
beforeEach(async () => {
  clock = Date.now();
  Object.assign(provider.habits, { expiresIn: 3_600, answers: undefined, waits: undefined });
  await api.database.pool.query('DELETE FROM connections');
});

const as = (person: Person) => createCaller(api.url, person.jwt);
const owner = () => as(api.owner);
const advanceClock = (minutes: number) => {
  clock += minutes * 60_000;
};

async function connectAcme(label = 'Team account'): Promise<string> {
  const body = { app: 'acme', label, visibility: 'workspace' };
  const begun = (await owner().post('/api/connections', body).expect(201)).body;
  const back = provider.consent(begun.authorization_url);
  const cookie = withCookie(api.owner.cookie);
  await request(api.url)
    .get(back.pathname + back.search)
    .set('Cookie', cookie)
    .expect(200);
  return begun.id;
}

const connectKey = async (app: string, value: string, more: object = {}, person = api.owner) =>
  (
    await as(person)
      .post('/api/connections', { app, value, hosts: [`api.${app}.example`, `*.${app}.example`], ...more })
      .expect(201)
  ).body.id as string;

let workerCount = 0;
async function createWorkerWith(connections: string[], more: object = {}, person = api.owner): Promise<string> {
  const files = [{ path: 'main.py', content: 'def run(): pass' }];
  const worker = { name: `Uses accounts ${++workerCount}`, connections, files, ...more };
  return (await as(person).post('/api/workers', worker).expect(201)).body.id;
}

const startRun = async (worker: string, person = api.owner): Promise<string> =>
  (await as(person).post(`/api/workers/${worker}/runs`, { inputs: {} })).body.run_id;

let pendingClaim: Promise<FakeJob> | null = null;

/** Keeps a claim through refused runs, so that no run goes to the claim of an executor that has left. */
function claimNextJob(): Promise<FakeJob> {
  if (pendingClaim) return pendingClaim;
  const claimed = (async () => {
    for (;;) {
      const job = await executor.claim();
      if (!job) continue;
      pendingClaim = null;
      return job;
    }
  })();
  claimed.catch(() => {});
  pendingClaim = claimed;
  return claimed;
}

async function startAndClaim(worker: string, person = api.owner): Promise<FakeJob> {
  const pendingJob = claimNextJob();
  const runId = await startRun(worker, person);
  const job = await pendingJob;
  expect(job.runId).toBe(runId);
  return job;
}

/** The run as it ended without having reached an executor. */
async function expectRefusedRun(worker: string, code = 'missing_connection') {
  void claimNextJob();
  const runId = await startRun(worker);
  const run = await untilEnded(api, runId);
  expect(run).toMatchObject({ status: 'failed', error_code: code });
  return run;
}

const countRefreshes = () => provider.asked.filter((form) => form.get('grant_type') === 'refresh_token').length;

test('code gets a placeholder, the egress proxy the value and its hosts, and the value is nowhere else', async () => {
  const id = await connectAcme();
  await connectKey('stripe-like', 'sk_never_to_be_seen', { visibility: 'workspace' });
  const worker = await createWorkerWith(['acme', id, 'stripe-like']);
  const job = await startAndClaim(worker);
  const placeholder = expect.stringMatching(/^gph_[A-Za-z0-9]{32}$/);
  const acme = {
    kind: 'connection',
    placeholder,
    hosts: ['api.acme.example'],
    baseUrl: 'https://api.acme.example',
    accountLabel: 'ada@example.com',
    scopes: ['contacts.read'],
    places: ['header'],
    exposed: false,
    value: expect.any(String),
  };
  expect(job.credentials).toEqual([
    { ...acme, name: 'acme' },
    { ...acme, name: id },
    {
      name: 'stripe-like',
      kind: 'connection',
      placeholder,
      places: ['header'],
      exposed: false,
      value: 'sk_never_to_be_seen',
      hosts: ['api.stripe-like.example', '*.stripe-like.example'],
      baseUrl: 'https://api.stripe-like.example',
      accountLabel: null,
      scopes: [],
    },
  ]);
  const [given] = job.credentials ?? [];
  expect(provider.good).toContain(given?.value);
  expect(new Set(job.credentials?.map((one) => one.placeholder)).size).toBe(3);
  expect(job.secrets).toBeUndefined();
  await job.complete({});
  const again = await startAndClaim(worker);
  expect(again.credentials?.[0]?.placeholder).not.toBe(given?.placeholder);
  await again.complete({});
  const { rows } = await api.database.pool.query('SELECT row_to_json(r)::text AS text FROM runs r');
  const storedText = rows.map(({ text }) => text).join() + api.logs.text();
  expect(storedText).not.toContain('never_to_be_seen');
  expect(storedText).not.toContain(given?.value);
});

test('an expiring token is refreshed once, though two replicas hand out runs that need it', async () => {
  await connectAcme();
  const worker = await createWorkerWith(['acme']);
  await api.replica();
  const executors = await Promise.all([api.connectExecutor(), api.connectExecutor(), api.connectExecutor()]);
  for (let n = 0; n < 3; n++) await startRun(worker);
  const oldTokens = new Set(provider.good);
  advanceClock(55);
  const before = countRefreshes();
  const jobs = await Promise.all(executors.map((one) => one.claim()));
  expect(countRefreshes()).toBeGreaterThan(before);
  const presented = provider.asked.slice(before - countRefreshes()).map((form) => form.get('refresh_token'));
  // The replicas also refresh what other tests have left.
  expect(new Set(presented).size).toBe(presented.length);
  const values = jobs.map((job) => job?.credentials?.[0]?.value ?? '');
  for (const value of values) expect(provider.good).toContain(value);
  // On a busy machine, a run does not wait for the new token: the old one is good for five more minutes.
  expect(new Set(values.filter((value) => !oldTokens.has(value))).size).toBeLessThanOrEqual(1);
  await Promise.all(jobs.map((job) => job?.complete({})));
});

test('a slow provider delays a run only if the token has expired', async () => {
  await connectAcme();
  const worker = await createWorkerWith(['acme']);
  let answer = () => {};
  provider.habits.waits = new Promise<void>((resolve) => {
    answer = resolve;
  });
  advanceClock(55);
  const job = await startAndClaim(worker);
  expect(provider.good).toContain(job.credentials?.[0]?.value);
  await job.complete({});
  advanceClock(10);
  expect((await expectRefusedRun(worker)).error).toContain(
    'its token has expired, and the provider has not issued a new one yet',
  );
  answer();
});

test('a token that is refused for good fails the run with the error of the provider', async () => {
  const id = await connectAcme();
  const worker = await createWorkerWith(['acme']);
  const body = JSON.stringify({ error: 'invalid_grant', error_description: 'access was withdrawn' });
  provider.habits.answers = { status: 400, body, type: 'application/json' };
  advanceClock(55);
  expect((await expectRefusedRun(worker)).error).toContain('access was withdrawn');
  expect((await owner().get(`/api/connections/${id}`).expect(200)).body.status).toBe('expired');
});

test('a connection that is deleted while its token is refreshed reaches no run', async () => {
  const id = await connectAcme();
  const worker = await createWorkerWith(['acme']);
  let answer = () => {};
  provider.habits.waits = new Promise<void>((resolve) => {
    answer = resolve;
  });
  advanceClock(55);
  const before = countRefreshes();
  const refused = expectRefusedRun(worker);
  await waitUntil(() => countRefreshes() > before, { what: 'the provider was asked' });
  await api.database.pool.query('DELETE FROM connections WHERE id = $1', [id]);
  answer();
  expect((await refused).error).toContain('"acme" is not connected');
});

test('a private connection does not reach a worker of another member', async () => {
  const ada = await api.addMember('member');
  await connectKey('crm', 'ada-s-own-key', {}, ada);
  const files = { visibility: 'private' };
  const others = await createWorkerWith(['crm'], files);
  expect((await expectRefusedRun(others)).error).toContain('"crm" is not connected, or not available to this worker');
  const shared = await createWorkerWith(['crm'], {}, ada);
  expect((await expectRefusedRun(shared)).error).toContain('share the connection, or make the worker private');
  const own = await createWorkerWith(['crm'], files, ada);
  const job = await startAndClaim(own, ada);
  expect(job.credentials).toMatchObject([{ name: 'crm', value: 'ada-s-own-key' }]);
  await job.complete({});
});

test('a test has no network, so its placeholder stands for nothing and no token is refreshed', async () => {
  await connectAcme();
  const worker = await createWorkerWith(['acme']);
  advanceClock(55);
  const before = countRefreshes();
  const pendingJob = claimNextJob();
  const draft = { files: [{ path: 'main.py', content: 'def run(): return {}' }] };
  const pendingResponse = owner()
    .post(`/api/workers/${worker}/test`, { draft, inputs: {} })
    .then((answer) => answer);
  const job = await pendingJob;
  const [given] = job.credentials ?? [];
  expect(job).toMatchObject({ kind: 'test', credentials: [{ name: 'acme' }] });
  expect(given?.value).toBe(given?.placeholder);
  expect(countRefreshes()).toBe(before);
  await job.complete({});
  await pendingResponse;
});

test('a key without allowed hosts fails the run with the reason', async () => {
  await connectKey('nowhere', 'k', { visibility: 'workspace', hosts: undefined });
  const worker = await createWorkerWith(['nowhere']);
  expect((await owner().get(`/api/workers/${worker}`).expect(200)).body.connection_problems).toEqual(['nowhere']);
  expect((await expectRefusedRun(worker)).error).toContain('it lists no host that its value can be sent to');
});

test('connections count toward the limit of 64 KB, and an MCP server gives code nothing', async () => {
  const server = { label: 'Linear', app: 'linear', url: 'https://mcp.example.com/mcp', visibility: 'workspace' };
  await owner().post('/api/connections/mcp', server).expect(201);
  const job = await startAndClaim(await createWorkerWith(['linear']));
  expect(job.credentials).toBeUndefined();
  await job.complete({});
  const names = ['one', 'two', 'three', 'four', 'five'];
  for (const name of names) await connectKey(name, 'x'.repeat(16_000), { visibility: 'workspace' });
  const { error } = await expectRefusedRun(await createWorkerWith(names), 'invalid_inputs');
  expect(error).toContain('the secrets and connections of this run total 80000 bytes');
});
