import {
  approvalDecided,
  approvalRequested,
  buildEventSubjectPattern,
  connectBus,
  type Envelope,
} from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import type { Response } from 'supertest';
import { buildApproval } from '../test/build-approval';
import { createCaller } from '../test/caller';
import { type Person, testWorkerApi } from '../test/test-worker-api';
import { startApprovalSweeper } from './approval-sweeper';

let clock = 0;
const api = testWorkerApi({ now: () => new Date(Date.now() + clock) });
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const member = setupResource(() => api.addMember('member'));
const viewer = setupResource(() => api.addMember('viewer'));
afterEach(async () => {
  clock = 0;
  // The executor of the next test would claim what is left in the queue.
  const { body: queued } = await owner.get('/api/runs?status=queued').expect(200);
  for (const { id } of queued) await owner.post(`/api/runs/${id}/cancel`).expect(200);
});

const as = ({ jwt }: Person) => createCaller(api.url, jwt);
const files = [{ path: 'main.py', content: 'def run(order, context):\n    return order\n' }];
const inputs = [{ name: 'order', type: 'integer', required: true }];
const DAY_MS = 86_400_000;

async function createWorker(over: object = {}, who = owner): Promise<string> {
  const made = await who.post('/api/workers', { name: 'Refunds', files, inputs, ...over }).expect(201);
  return made.body.id;
}

async function startRun(worker: string, who = owner, order = 1001): Promise<string> {
  const started = await who.post(`/api/workers/${worker}/runs`, { inputs: { order } }).expect(201);
  return started.body.run_id;
}

const held = { approvals: { required: true } };

test('starting a run that is held for approval responds with queued', async () => {
  const { body } = await owner
    .post(`/api/workers/${await createWorker(held)}/runs`, { inputs: { order: 1 } })
    .expect(201);
  expect(body.status).toBe('queued');
  expect((await getRun(body.run_id)).status).toBe('pending_approval');
});
const getRun = async (id: string) => (await owner.get(`/api/runs/${id}`).expect(200)).body;
const findPending = async (runId: string, who = owner) => {
  const { body } = await who.get(`/api/approvals?run_id=${runId}&status=pending`).expect(200);
  return body[0];
};
/** A held run and its approval. */
async function startHeldRun(over: object = held, who = owner) {
  const runId = await startRun(await createWorker(over, owner), who);
  return { runId, approval: await findPending(runId) };
}

const form = [
  { name: 'amount', type: 'number', required: true, minimum: 1 },
  { name: 'note', type: 'text', default: 'as agreed' },
  { name: 'speed', type: 'select', options: ['slow', 'fast'] },
];

/** A run whose code waits in context.approve(). */
async function startAskingRun(over: object = {}) {
  const executor = await api.connectExecutor();
  const runId = await startRun(await createWorker());
  const job = await executor.claimJob();
  await job.suspend(
    buildApproval('Refund?', { message: 'The customer asked **twice**.', data: { order: 1001 }, form, ...over }),
  );
  await waitUntil(async () => (await getRun(runId)).status !== 'running', { what: 'the run is suspended' });
  return { runId, executor };
}

test('a run of a worker that requires approval waits with its inputs shown, and starts once a member approves it', async () => {
  const { runId, approval } = await startHeldRun();
  expect(approval).toMatchObject({
    status: 'pending',
    title: 'Run Refunds',
    data: { order: 1001 },
    form: null,
    worker_name: 'Refunds',
    requested_by: api.owner.userId,
    decided_at: null,
    permissions: { decide: true },
  });
  expect(Date.parse(approval.expires_at) - Date.parse(approval.requested_at)).toBe(7 * DAY_MS);
  expect((await getRun(runId)).status).toBe('pending_approval');
  const executor = await api.connectExecutor();
  const { body } = await as(member)
    .post(`/api/approvals/${approval.id}/approve`, { reason: 'looks right' })
    .expect(200);
  expect(body).toMatchObject({
    status: 'approved',
    decided_by: member.userId,
    decided_by_label: member.email,
    reason: 'looks right',
    review_url: null,
    permissions: { decide: false },
  });
  const job = await executor.claimJob();
  expect(job).toMatchObject({ runId, attempt: 1 });
  await job.complete(1001);
  await waitUntil(async () => (await getRun(runId)).status === 'completed');
});

test('code that asks for approval continues with the approver and the form’s values, defaults included', async () => {
  const { runId, executor } = await startAskingRun();
  const approval = await findPending(runId);
  expect(approval).toMatchObject({ title: 'Refund?', message: 'The customer asked **twice**.', data: { order: 1001 } });
  expect(approval.form.map(({ name }: { name: string }) => name)).toEqual(['amount', 'note', 'speed']);
  await as(member)
    .post(`/api/runs/${runId}/approve`, { data: { amount: 120 } })
    .expect(200);
  const job = await executor.claimJob();
  expect(job.steps).toEqual([
    {
      ordinal: 1,
      kind: 'approve',
      name: 'Refund?',
      result: { approved_by: member.email, data: { amount: 120, note: 'as agreed' } },
    },
  ]);
  const { text: log } = await as(member).get(`/api/runs/${runId}/logs?format=text`).expect(200);
  expect(log).toContain(`Resumed: approved by ${member.email}.`);
  await job.complete(1001);
  await waitUntil(async () => (await getRun(runId)).status === 'completed');
});

test.each([
  [{}, 'data.amount'],
  [{ amount: 'much' }, 'data.amount'],
  [{ amount: 0 }, 'data.amount'],
  [{ amount: 1, speed: 'idle' }, 'data.speed'],
  [{ amount: 1, other: 1 }, 'data.other'],
])('a form value %j is refused by its field, and the run keeps waiting', async (data, path) => {
  const { runId } = await startAskingRun();
  const { id } = await findPending(runId);
  const { body } = await owner.post(`/api/approvals/${id}/approve`, { data }).expect(400);
  expect(body.errors).toEqual([expect.objectContaining({ path })]);
  expect((await getRun(runId)).status).toBe('pending_approval');
});

test('a form that cannot be rendered fails the run with the place of the problem', async () => {
  const { runId } = await startAskingRun({
    form: [
      { name: 'size', type: 'select' },
      { name: 'scan', type: 'file' },
    ],
  });
  const run = await getRun(runId);
  expect(run.status).toBe('failed');
  expect(run.error).toContain('context.approve(): form.0.options: a select must have options');
  expect((await owner.get(`/api/approvals?run_id=${runId}`)).body).toEqual([]);
});

test('a form whose pattern cannot be matched in linear time fails the run with the reason', async () => {
  const { runId } = await startAskingRun({ form: [{ name: 'code', pattern: '^(?!x)' }] });
  expect((await getRun(runId)).error).toMatch(/form\.0\.pattern: uses a lookahead \("\(\?!x\)"\), which RE2/);
});

test('a rejection ends the run with its reason, which watchers are told', async () => {
  const { runId } = await startAskingRun();
  await owner.post(`/api/runs/${runId}/reject`, { reason: 'twice is enough' }).expect(200);
  const run = await getRun(runId);
  expect(run).toMatchObject({ status: 'rejected', error_code: 'approval_rejected' });
  expect(run.error).toBe('rejected by owner@example.com: twice is enough');
  const { rows } = await api.database.pool.query('SELECT type, data FROM run_events WHERE run_id = $1 ORDER BY seq', [
    runId,
  ]);
  const told = rows.filter(({ type }) => type === 'approval').map(({ data }) => data.status);
  expect(told).toEqual(['pending', 'rejected']);
  expect(rows.at(-1).type).toBe('done');
});

test('a decision is final: a second approver is told who decided and when', async () => {
  const { runId, approval } = await startHeldRun();
  await as(member).post(`/api/approvals/${approval.id}/reject`).expect(200);
  for (const path of [`/api/approvals/${approval.id}/approve`, `/api/runs/${runId}/reject`]) {
    const { body } = await owner.post(path).expect(409);
    expect(body.code).toBe('already_decided');
    expect(body.detail).toMatch(new RegExp(`rejected by ${member.email} at 20`));
  }
});

test('of twenty simultaneous decisions one counts, and the run changes once', async () => {
  const { runId, approval } = await startHeldRun();
  const verdicts = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'approve' : 'reject'));
  const answers = await Promise.all(verdicts.map((verdict) => owner.post(`/api/approvals/${approval.id}/${verdict}`)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  const lost = answers.filter(({ status }) => status !== 200);
  expect(lost.map(({ status, body }) => [status, body.code])).toEqual(Array(19).fill([409, 'already_decided']));
  const decided = won[0]?.body.status;
  expect((await getRun(runId)).status).toBe(decided === 'approved' ? 'queued' : 'rejected');
  const { rows } = await api.database.pool.query(
    "SELECT action FROM audit_log WHERE resource_id = $1 AND action LIKE 'approval.%'",
    [approval.id],
  );
  expect(rows).toEqual([{ action: `approval.${decided}` }]);
});

test('a decision and a simultaneous cancellation leave run and approval consistent', async () => {
  const sweeper = startApprovalSweeper(api.deps, { auto: false });
  for (let round = 0; round < 5; round++) {
    const { runId, approval } = await startHeldRun();
    const [decided, cancelled] = await Promise.all([
      owner.post(`/api/approvals/${approval.id}/reject`),
      owner.post(`/api/runs/${runId}/cancel`),
    ]);
    await sweeper.tick();
    const [run, { body: after }] = [await getRun(runId), await owner.get(`/api/approvals/${approval.id}`)];
    const ended = { rejected: 'rejected', cancelled: 'expired' }[run.status as 'rejected' | 'cancelled'];
    expect(after.status).toBe(ended);
    expect([decided.status, cancelled.status].filter((status) => status === 409)).toHaveLength(1);
  }
});

test('a cancelled run cancels its approval', async () => {
  const { runId, approval } = await startHeldRun();
  await owner.post(`/api/runs/${runId}/cancel`).expect(200);
  const late = await owner.post(`/api/approvals/${approval.id}/approve`).expect(409);
  expect(late.body.detail).toContain('cancelled');
  await startApprovalSweeper(api.deps, { auto: false }).tick();
  const { body } = await owner.get(`/api/approvals/${approval.id}`).expect(200);
  expect(body).toMatchObject({
    status: 'expired',
    reason: 'the run was no longer waiting: its status was cancelled',
    decided_by: null,
  });
});

test('without a decision in time the run is rejected, once, however many replicas sweep', async () => {
  const runs = await Promise.all(
    Array.from({ length: 6 }, () => startHeldRun({ approvals: { required: true, expires_in_seconds: 60 } })),
  );
  clock = 30_000;
  const replicas = [api, await api.replica(), await api.replica()];
  const sweepers = replicas.map(({ deps }) => deps).map((deps) => startApprovalSweeper(deps, { auto: false }));
  // The replica has yet to connect, which takes a while on a busy machine.
  for (const sweeper of sweepers) await waitUntil(async () => (await sweeper.tick()) >= 0);
  const first = runs[0]?.approval.id;
  expect((await owner.get(`/api/approvals/${first}`)).body.status).toBe('pending');
  clock = 61_000;
  const { body } = await owner.post(`/api/approvals/${first}/approve`).expect(409);
  expect(body.code).toBe('approval_expired');
  const swept = await Promise.all(sweepers.map((sweeper) => sweeper.tick()));
  expect(swept.reduce((sum, count) => sum + count, 0)).toBe(6);
  for (const { runId, approval } of runs) {
    expect(await getRun(runId)).toMatchObject({ status: 'rejected', error_code: 'approval_rejected' });
    expect((await owner.get(`/api/approvals/${approval.id}`)).body.status).toBe('expired');
  }
});

test('requests and decisions are announced and audited', async () => {
  const heard: Record<string, unknown>[] = [];
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.deps.log });
  for (const event of [approvalRequested, approvalDecided]) {
    spectator.nc.subscribe(buildEventSubjectPattern(event), {
      callback: (_err, message) => void heard.push(message.json<Envelope>().data as Record<string, unknown>),
    });
  }
  await spectator.nc.flush();
  const { runId, approval } = await startHeldRun();
  await as(member).post(`/api/approvals/${approval.id}/approve`, { reason: 'fine' }).expect(200);
  const ofThis = () => heard.filter(({ approvalId }) => approvalId === approval.id);
  await waitUntil(() => ofThis().length === 2, { what: 'both are announced' });
  await spectator.nc.close();
  const shared = { approvalId: approval.id, runId, workerId: approval.worker_id };
  expect(ofThis()).toEqual([
    expect.objectContaining({ ...shared, title: 'Run Refunds', expiresAt: Date.parse(approval.expires_at) }),
    expect.objectContaining({ ...shared, status: 'approved', decidedBy: member.userId }),
  ]);
  const { body } = await owner.get(`/api/audit-log?resource_id=${approval.id}`).expect(200);
  expect(body).toEqual([
    expect.objectContaining({
      action: 'approval.approved',
      actor: expect.objectContaining({ id: member.userId }),
      details: { worker_id: approval.worker_id, run_id: runId, title: 'Run Refunds', reason: 'fine' },
    }),
  ]);
});

describe('permission to decide', () => {
  const guarded = { approvals: { required: true, forbid_self: true } };

  test('a viewer reads approvals, and does not decide', async () => {
    const { approval } = await startHeldRun();
    const { body } = await as(viewer).get(`/api/approvals/${approval.id}`).expect(200);
    expect(body).toMatchObject({ review_url: null, permissions: { decide: false } });
    await as(viewer).post(`/api/approvals/${approval.id}/approve`).expect(403);
  });

  test('if the worker forbids it, the member who started a run does not approve it with any credential', async () => {
    const worker = await createWorker(guarded);
    const runId = await startRun(worker, as(member));
    const { id } = await findPending(runId);
    const personal = await api.createToken('personal', member.jwt);
    for (const credential of [member.jwt, personal.token]) {
      const { body } = await createCaller(api.url, credential).post(`/api/approvals/${id}/approve`).expect(403);
      expect(body.code).toBe('self_approval');
      await createCaller(api.url, credential).post(`/api/runs/${runId}/reject`).expect(403);
      await createCaller(api.url, credential).post(`/api/approvals/${id}/link`).expect(403);
    }
    expect(await findPending(runId, as(member))).toMatchObject({ review_url: null, permissions: { decide: false } });
    await owner.post(`/api/approvals/${id}/approve`).expect(200);
  });

  test('a workspace token counts as the person who created it', async () => {
    const admin = await api.addMember('admin');
    const worker = await createWorker(guarded);
    const [robot, other] = [
      await api.createToken('workspace', admin.jwt),
      await api.createToken('workspace', api.owner.jwt),
    ];
    const started = await startRun(worker, as(admin));
    const { id } = await findPending(started);
    await createCaller(api.url, robot.token).post(`/api/approvals/${id}/approve`).expect(403);
    const byRobot = await startRun(worker, createCaller(api.url, robot.token));
    const second = await findPending(byRobot);
    await as(admin).post(`/api/approvals/${second.id}/approve`).expect(403);
    const { body } = await createCaller(api.url, other.token).post(`/api/approvals/${id}/approve`).expect(200);
    expect(body.decided_by).toBe(other.id);
  });

  test("a private worker's approvals are for its owner and for admins", async () => {
    const worker = await createWorker({ ...held, visibility: 'private' }, as(member));
    const runId = await startRun(worker, as(member));
    const { id } = await findPending(runId);
    const stranger = await api.addMember('member');
    const unknown = await as(stranger).get('/api/approvals/apr_000000000000000000000').expect(404);
    const hidden = await as(stranger).get(`/api/approvals/${id}`).expect(404);
    expect(hidden.text).toBe(unknown.text.replace('apr_000000000000000000000', id));
    await as(stranger).post(`/api/approvals/${id}/approve`).expect(404);
    await as(stranger).post(`/api/runs/${runId}/approve`).expect(404);
    expect(await findPending(runId, as(stranger))).toBeUndefined();
    const countPending = async (who: Person) => (await as(who).get('/api/approvals/count').expect(200)).body.pending;
    expect(await countPending(member)).toBe((await countPending(stranger)) + 1);
    await as(member).post(`/api/approvals/${id}/approve`).expect(200);
  });

  test('a run that never asked for approval reports that', async () => {
    const runId = await startRun(await createWorker());
    const { body } = await owner.post(`/api/runs/${runId}/approve`).expect(409);
    expect(body).toEqual({ code: 'not_waiting', detail: 'this run is not waiting for approval: its status is queued' });
    await owner.post('/api/runs/run_nowhere/approve').expect(404);
  });
});

test('the list is paginated, newest first', async () => {
  const worker = await createWorker(held);
  const runs: string[] = [];
  for (let i = 0; i < 5; i++) runs.unshift(await startRun(worker));
  const seen: string[] = [];
  let next: string | undefined = `/api/approvals?worker_id=${worker}&limit=2`;
  while (next) {
    const page: Response = await owner.get(next).expect(200);
    seen.push(...page.body.map(({ run_id }: { run_id: string }) => run_id));
    expect(page.headers['x-has-more']).toBe(String(Boolean(page.headers.link)));
    next = /<([^>]+)>/.exec(page.headers.link ?? '')?.[1];
  }
  expect(seen).toEqual(runs);
  expect((await owner.get(`/api/approvals?worker_id=${worker}&limit=2&offset=4`)).body).toHaveLength(1);
  const half = await owner.get('/api/approvals?before_id=apr_x').expect(400);
  expect(half.body.errors[0].path).toBe('before_requested_at');
  await owner.get('/api/approvals?limit=201').expect(400);
  await owner.get('/api/approvals?status=open').expect(400);
});

test.each([
  { reason: 'a\0b' },
  { reason: 'x'.repeat(2_001) },
  { data: [1] },
  { data: { big: 'x'.repeat(62_000) } },
  { who: 1 },
])('a body like %.40j is refused', async (body) => {
  const { approval } = await startHeldRun();
  await owner.post(`/api/approvals/${approval.id}/approve`, body).expect(400);
  expect((await owner.get(`/api/approvals/${approval.id}`)).body.status).toBe('pending');
});
