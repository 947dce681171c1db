import { type FakeJob, setupResource, waitUntil } from '@gantry/testing';
import { buildApproval } from '../test/build-approval';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const executor = setupResource(() => api.connectExecutor());
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const visitor = setupResource(() => createCaller(api.url));

const SECRET = 'correct-horse-battery';
const programSchema = {
  type: 'object',
  properties: { code: { type: 'string', maxLength: 20 }, times: { type: 'integer', minimum: 1 } },
  required: ['code'],
  additionalProperties: false,
};
const python = { id: 'call_1', serves: null, parameters: programSchema };
const gone = { id: 'call_3', serves: { connection: 'tracker', tool: 'drop' }, parameters: null };
const three = [
  { tool: 'python', arguments: { code: 'print(1)' } },
  { tool: 'run__report', arguments: { year: 2025 } },
  { tool: 'tracker__drop', arguments: { id: 7 } },
];

const called = setupResource(() =>
  createTestWorker(api, { definition: { inputs: [{ name: 'year', type: 'integer', required: true }] } }),
);
beforeAll(async () => {
  await owner.put('/api/secrets/API_KEY', { value: SECRET }).expect(201);
});

const getRun = async (id: string) => (await owner.get(`/api/runs/${id}`).expect(200)).body;
const getApproval = async (id: string) => (await owner.get(`/api/approvals/${id}`).expect(200)).body;

async function startHeldRun(over: object = {}) {
  const report = { id: 'call_2', serves: { worker: called.id }, parameters: null };
  const worker = await createTestWorker(api);
  const { run_id: runId } = (await owner.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201)).body;
  const job = (await executor.claimJob()) as FakeJob;
  await job.suspend(
    buildApproval('The agent asks to make 3 calls', {
      data: { calls: three },
      calls: [python, report, gone],
      ...over,
    }),
  );
  await waitUntil(async () => (await getRun(runId)).status !== 'running', { what: 'the run is suspended' });
  const { body } = await owner.get(`/api/approvals?run_id=${runId}`).expect(200);
  return { runId, approval: body[0] };
}

const approve = (id: string) => ({ id, decision: 'approve' });
const refuse = (id: string, reason?: string) => ({ id, decision: 'refuse', ...(reason && { reason }) });
const correct = (id: string, given: object) => ({ ...approve(id), arguments: given });
const undecided = { decision: null };
const approvedAsTheyAre = { decision: { status: 'approved', arguments: null, reason: null } };

test('calls are shown with the schemas of their tools to members who can decide', async () => {
  const { approval } = await startHeldRun();
  expect(approval.calls).toEqual(three.map((call, at) => ({ id: `call_${at + 1}`, ...call, ...undecided })));
  const { calls } = await getApproval(approval.id);
  expect(calls[0].input_schema).toEqual(programSchema);
  expect(calls[1].input_schema).toMatchObject({ properties: { year: { type: 'integer' } }, required: ['year'] });
  expect(calls[2].input_schema).toBeNull();
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  const seen = await viewer.get(`/api/approvals/${approval.id}`).expect(200);
  expect(seen.body.calls[0]).not.toHaveProperty('input_schema');
});

test('one is corrected, one approved and one refused, and the run continues with exactly that', async () => {
  const { runId, approval } = await startHeldRun();
  const body = {
    reason: 'see the ticket',
    calls: [refuse('call_3'), correct('call_2', { year: 2026 }), correct('call_1', { code: 'print(1)' })],
  };
  const decided = await owner.post(`/api/approvals/${approval.id}/approve`, body).expect(200);
  expect(decided.body).toMatchObject({ status: 'approved', reason: 'see the ticket' });
  const decisions = [
    { status: 'approved', arguments: null, reason: null },
    { status: 'corrected', arguments: { year: 2026 }, reason: null },
    { status: 'refused', arguments: null, reason: 'see the ticket' },
  ];
  expect(decided.body.calls.map(({ decision }: { decision: object }) => decision)).toEqual(decisions);
  const job = (await executor.claimJob()) as FakeJob;
  expect(job.steps).toMatchObject([
    {
      kind: 'approve',
      result: { approved_by: api.owner.email, data: null, decided_at: decided.body.decided_at, calls: decisions },
    },
  ]);
  const run = await getRun(runId);
  expect(run.approvals[0]).toMatchObject({ decided_by: api.owner.email, calls: decided.body.calls });
  const log = await owner.get(`/api/audit-log?resource_id=${approval.id}`).expect(200);
  expect(log.body[0].details).toMatchObject({ calls: ['approved', 'corrected', 'refused'] });
  const again = await owner.post(`/api/approvals/${approval.id}/approve`, body).expect(409);
  expect(again.body.code).toBe('already_decided');
});

test('a secret in corrected arguments reaches the tool, and is stored nowhere else', async () => {
  const { runId, approval } = await startHeldRun({ data: three[0], calls: [{ ...python, parameters: {} }] });
  const body = { calls: [correct('call_1', { code: SECRET })] };
  const decided = await owner.post(`/api/approvals/${approval.id}/approve`, body).expect(200);
  const job = (await executor.claimJob()) as FakeJob;
  expect(job.steps?.[0]?.result).toMatchObject({ calls: [{ arguments: { code: SECRET } }] });
  for (const shown of [decided.body, await getApproval(approval.id), await getRun(runId)]) {
    expect(JSON.stringify(shown)).toContain('corrected');
    expect(JSON.stringify(shown)).not.toContain(SECRET);
  }
});

test('a client that does not know calls approves all unchanged, or ends the run', async () => {
  const first = await startHeldRun();
  const { body } = await owner.post(`/api/runs/${first.runId}/approve`, { reason: 'fine' }).expect(200);
  expect(body.calls).toMatchObject([approvedAsTheyAre, approvedAsTheyAre, approvedAsTheyAre]);
  await executor.claimJob();
  const second = await startHeldRun();
  const rejected = await owner.post(`/api/approvals/${second.approval.id}/reject`, { reason: 'stop' }).expect(200);
  expect(rejected.body.calls).toMatchObject([undecided, undecided, undecided]);
  expect(await getRun(second.runId)).toMatchObject({ status: 'rejected', error: expect.stringContaining('stop') });
});

describe('a wrong decision changes nothing', () => {
  const held = setupResource(() => startHeldRun());
  const others = [approve('call_2'), approve('call_3')];
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  test.each<[string, object[], string, number?]>([
    ['two of three', [approve('call_1'), approve('call_2')], 'calls'],
    ['an unknown call', [approve('call_1'), ...others, approve('call_9')], 'calls.3.id'],
    ['one call twice', [approve('call_1'), refuse('call_1'), ...others], 'calls.1.id'],
    ['arguments of a refused call', [{ ...refuse('call_1'), arguments: {} }, ...others], 'calls.0.arguments'],
    ['arguments without a required one', [correct('call_1', { times: 2 }), ...others], 'calls.0.arguments.code'],
    [
      'an argument of a wrong type',
      [correct('call_1', { code: 'x', times: 'two' }), ...others],
      'calls.0.arguments.times',
    ],
    [
      'an argument below its minimum',
      [correct('call_1', { code: 'x', times: 0 }), ...others],
      'calls.0.arguments.times',
    ],
    ['an unknown argument', [correct('call_1', { code: 'x', other: 1 }), ...others], 'calls.0.arguments.other'],
    [
      'an input that the worker does not take',
      [approve('call_1'), correct('call_2', { year: 'x' }), approve('call_3')],
      'calls.1.arguments.year',
    ],
    ['NUL', [correct('call_1', { code: 'a\0b' }), ...others], 'calls.0.arguments.code'],
    ['NUL in a name', [correct('call_1', { 'a\0b': 1 }), ...others], 'calls.0.arguments'],
    ['128 KB', [correct('call_1', { code: 'x'.repeat(128 * 1024) }), ...others], 'calls'],
    ['deep JSON', [correct('call_1', { code: deep(70) }), ...others], ''],
    ['a list in place of arguments', [{ ...approve('call_1'), arguments: [1] }, ...others], 'calls'],
    ['an unknown decision', [{ id: 'call_1', decision: 'maybe' }, ...others], 'calls'],
    ['no calls', [], 'calls'],
    ['a tool that cannot be looked up', [approve('call_1'), approve('call_2'), correct('call_3', { id: 8 })], '', 503],
  ])('%s', async (_, calls, path, status = 400) => {
    const { approval, runId } = held;
    const { body } = await owner.post(`/api/approvals/${approval.id}/approve`, { calls }).expect(status);
    if (path) expect(body.errors[0].path).toContain(path);
    if (status === 503) expect(body.code).toBe('tool_unavailable');
    expect(await getApproval(approval.id)).toMatchObject({
      status: 'pending',
      calls: [undecided, undecided, undecided],
    });
    expect((await getRun(runId)).status).toBe('pending_approval');
  });

  test('decisions on calls are refused for an approval without calls, and with a rejection', async () => {
    const plain = await startHeldRun({ title: 'Refund?', data: { order: 1 }, calls: undefined });
    expect(plain.approval.calls).toBeNull();
    const body = { calls: [approve('call_1')] };
    const none = await owner.post(`/api/approvals/${plain.approval.id}/approve`, body).expect(400);
    expect(none.body.code).toBe('invalid_calls');
    await owner.post(`/api/approvals/${held.approval.id}/reject`, body).expect(400);
  });
});

test('the holder of a link refuses calls, and corrects none', async () => {
  const { runId, approval } = await startHeldRun();
  const path = new URL(approval.review_url).pathname.replace('/review/', '/api/reviews/');
  const review = await visitor.get(path).expect(200);
  expect(review.body.calls[0]).toEqual({ id: 'call_1', ...three[0], ...undecided });
  const others = [approve('call_2'), approve('call_3')];
  const corrected = { name: 'Grace', calls: [correct('call_1', { code: 'print(2)' }), ...others] };
  const refusal = await visitor.post(`${path}/approve`, corrected).expect(400);
  expect(refusal.body.errors[0]).toMatchObject({
    path: 'calls.0.arguments',
    message: expect.stringContaining('account'),
  });
  const decided = await visitor
    .post(`${path}/approve`, { name: 'Grace', calls: [refuse('call_1', 'not now'), ...others] })
    .expect(200);
  expect(decided.body.calls[0].decision).toEqual({ status: 'refused', arguments: null, reason: 'not now' });
  expect((await getRun(runId)).approvals[0].decided_by).toBe('link: Grace');
  await executor.claimJob();
});

test('of two simultaneous decisions one counts, with all its parts', async () => {
  const { approval } = await startHeldRun();
  const others = [approve('call_2'), approve('call_3')];
  const decisions = [correct('call_1', { code: 'print(2)' }), refuse('call_1', 'no')].map((first) =>
    owner.post(`/api/approvals/${approval.id}/approve`, { calls: [first, ...others] }),
  );
  const statuses = (await Promise.all(decisions)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 409]);
  const first = (await getApproval(approval.id)).calls[0].decision;
  expect(first.status).toBe(statuses[0] === 200 ? 'corrected' : 'refused');
  await executor.claimJob();
});

test('calls that do not match the data end the run', async () => {
  const { runId, approval } = await startHeldRun({ calls: [python] });
  expect(approval).toBeUndefined();
  expect((await getRun(runId)).status).toBe('failed');
});
