/**
 * A deleted workspace over real processes: two replicas of each service, an executor with its sandbox. What the
 * services hear of each other, they hear over NATS; nothing in here tells them. The workspace is deleted, restored and
 * deleted again.
 * @sequential
 */
import { Pool } from 'pg';
import { type ApiCall, type ApiResponse, createApiClient, deployAutomation } from './api-client';
import { type Stack, startStack } from './stack';
import { waitUntil } from './wait-until';

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;

const BUSY =
  'import time\ndef run():\n    for n in range(600):\n        print("still here", n, flush=True)\n        time.sleep(0.1)\n';
const SLEEPS = 'def run(context):\n    context.sleep(4)\n    return "awake"\n';
const TICKS = 'def run():\n    return 1\n';

let stack: Stack;
let owner: ApiCall;
/** Callers with a token of the workspace that is deleted, one for each replica. */
let inside: [ApiCall, ApiCall];
let insideAutomations: ApiCall;
let workspaceId: string;
let pools: { worker: Pool; automation: Pool };
beforeAll(async () => {
  stack = await startStack({ workerApis: 2, automationApis: 2, executors: 1 });
  owner = createApiClient(stack.workerUrls[0] as string, stack.token);
  workspaceId = expectOk(await owner('POST', '/api/workspaces', { name: 'Short-lived' })).id;
  const selected = await owner('POST', `/api/workspaces/${workspaceId}/select`);
  expectOk(selected);
  const { token } = expectOk(await owner('POST', '/api/workspace/tokens', { name: 'ci' }));
  inside = stack.workerUrls.map((url) => createApiClient(url, token)) as [ApiCall, ApiCall];
  insideAutomations = createApiClient(stack.automationUrls[0] as string, token);
  pools = {
    worker: new Pool({ connectionString: stack.databaseUrls.worker }),
    automation: new Pool({ connectionString: stack.databaseUrls.automation }),
  };
});

afterAll(async () => {
  await Promise.all(Object.values(pools ?? {}).map((pool) => pool.end()));
  await stack?.stop();
});

function expectOk({ status, body }: ApiResponse): Json {
  if (status < 300) return body;
  throw new Error(`${status} ${JSON.stringify(body)}`);
}

const createWorker = async (id: string, code: string, rest: object = {}): Promise<Json> =>
  expectOk(
    await inside[0]('POST', '/api/workers', { id, name: id, files: [{ path: 'main.py', content: code }], ...rest }),
  );
const start = async (id: string): Promise<string> =>
  expectOk(await inside[0]('POST', `/api/workers/${id}/runs`)).run_id;
const getRunStatus = async (runId: string): Promise<string> =>
  (await pools.worker.query('SELECT status FROM runs WHERE id = $1', [runId])).rows[0].status;
const waitForStatus = (runId: string, ...statuses: string[]) =>
  waitUntil(async () => statuses.includes(await getRunStatus(runId)), { what: `${runId} is ${statuses}` });

/** Code that has begun since, on either surface; and runs that were made. */
async function activitySince(at: Date): Promise<number> {
  const counts = await Promise.all(
    Object.values(pools).map((pool) =>
      pool.query(
        `SELECT count(*)::int AS n FROM runs r WHERE r.workspace_id = $1 AND (r.created_at > $2
           OR EXISTS (SELECT FROM run_events e WHERE e.run_id = r.id AND e.at > $2 AND e.type = 'status' AND e.data ->> 'status' = 'running'))`,
        [workspaceId, at],
      ),
    ),
  );
  return counts.reduce((sum, { rows }) => sum + rows[0].n, 0);
}

const visit = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

test('nothing of it runs or responds, on any replica, and it continues where it was once it is restored', async () => {
  const hooked = await createWorker('hooked', TICKS, { trigger: 'webhook' });
  await createWorker('ticking', TICKS, { trigger: { type: 'cron', cron: '* * * * * *' } });
  await createWorker('busy', BUSY);
  await createWorker('sleeper', SLEEPS);
  await createWorker('asking', TICKS, { approvals: { required: true } });
  const { id: automationId } = await deployAutomation(insideAutomations, { 'main.py': TICKS }, { name: 'Shared' });
  expectOk(await insideAutomations('PATCH', `/api/automations/${automationId}`, { visibility: 'public' }));

  const asking = await start('asking');
  const [approval] = JSON.parse(expectOk(await inside[0]('GET', '/api/approvals')));
  const review = `/api/reviews/${new URL(approval.review_url).pathname.replace('/review/', '')}`;
  const pages = stack.automationUrls.map((url) => `${url}/api/pages/${automationId}`);
  const hooks = stack.workerUrls.map(
    (url) => `${url}${new URL(hooked.webhook_url).pathname}?token=${hooked.webhook_secret}`,
  );
  const reviews = stack.workerUrls.map((url) => `${url}${review}`);
  const doors = async () => ({
    pages: await Promise.all(pages.map((url) => visit(url))),
    pageRuns: await Promise.all(pages.map((url) => visit(`${url}/runs`, json({ inputs: {}, wait: 0 })))),
    hooks: await Promise.all(hooks.map((url) => visit(url, json({})))),
    reviews: await Promise.all(reviews.map((url) => visit(url))),
    members: await Promise.all([
      ...inside.map((call) => call('GET', '/api/workers')),
      insideAutomations('GET', '/api/automations'),
    ]).then((answers) => answers.map(({ status }) => status)),
  });
  expect(await doors()).toEqual({
    pages: [200, 200],
    pageRuns: [200, 200],
    hooks: [200, 200],
    reviews: [200, 200],
    members: [200, 200, 200],
  });

  const asleep = await start('sleeper');
  await waitForStatus(asleep, 'suspended');
  const running = await start('busy');
  await waitForStatus(running, 'running');
  const headers = {
    Authorization: `Bearer ${expectOk(await owner('POST', '/auth/tokens', { name: 'reader' })).token}`,
  };
  const streams = await Promise.all(
    stack.workerUrls.map((url) =>
      fetch(`${url}/api/runs/${running}/stream`, { headers: { ...headers, 'x-svc-workspace': workspaceId } }),
    ),
  );
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  const ends = Promise.all(streams.map((stream) => stream.text()));

  expectOk(await owner('DELETE', `/api/workspaces/${workspaceId}`));
  // Cut off, or told that the run was cancelled, whichever comes first.
  await ends;
  await waitForStatus(running, 'cancelled');
  await waitUntil(async () => (await doors()).pages.every((status) => status === 401), { everyMs: 50 });
  const from = new Date();
  expect(await doors()).toEqual({
    pages: [401, 401],
    pageRuns: [401, 401],
    hooks: [401, 401],
    reviews: [404, 404],
    members: [401, 401, 401],
  });
  // Past the end of the sleep and some fires of the schedule: read once others have been woken and started meanwhile.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(await activitySince(from)).toBe(0);
  expect([await getRunStatus(asleep), await getRunStatus(asking)]).toEqual(['suspended', 'pending_approval']);

  expectOk(await owner('POST', `/api/workspaces/${workspaceId}/restore`));
  await waitForStatus(asleep, 'completed');
  await waitUntil(async () =>
    Object.values(await doors())
      .flat()
      .every((status) => status === 200),
  );
  await waitUntil(async () => (await activitySince(from)) > 2);
  expect(await getRunStatus(asking)).toBe('pending_approval');
});

test('while NATS is down, the service that deletes closes it at once, and the other one as soon as NATS is back', async () => {
  const { id: automationId } = await deployAutomation(insideAutomations, { 'main.py': TICKS }, { name: 'Shared' });
  expectOk(await insideAutomations('PATCH', `/api/automations/${automationId}`, { visibility: 'public' }));
  const hooked = await createWorker('hooked-too', TICKS, { trigger: 'webhook' });
  const hook = `${stack.workerUrls[1]}${new URL(hooked.webhook_url).pathname}?token=${hooked.webhook_secret}`;
  const page = `${stack.automationUrls[1]}/api/pages/${automationId}`;
  expect([await visit(page), await visit(hook, json({}))]).toEqual([200, 200]);
  await stack.parts.nats.kill();
  expectOk(await owner('DELETE', `/api/workspaces/${workspaceId}`));
  expect(await visit(hook, json({}))).toBe(401);
  await stack.parts.nats.restart();
  await waitUntil(async () => (await visit(page)) === 401);
});
