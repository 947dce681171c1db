import { enqueue, runFinished } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

const getUid = async (id: string): Promise<string> =>
  (await api.database.pool.query('SELECT uid FROM workers WHERE id = $1', [id])).rows[0].uid;

const insertEndedRun = (uid: string, at: string, over: object = {}) =>
  enqueue(api.database.pool, runFinished, api.workspaceId, {
    runId: 'run_x',
    source: 'worker' as const,
    subjectId: uid,
    status: 'completed' as const,
    errorCode: null,
    costUsd: 0.25,
    cpuMs: 1_500,
    durationMs: 2_000,
    finishedAt: Date.parse(at),
    ...over,
  });

const read = async (month: string, caller = owner) => (await caller.get(`/api/usage?month=${month}`).expect(200)).body;

test('runs count once on the day on which they end, by worker, and a budget is shown before it is used', async () => {
  const limits = { budget_usd_per_month: 2 };
  const dear = await createWorker(api, { name: 'Dear' });
  const idle = await createWorker(api, { name: 'Idle with a budget', limits });
  const uid = await getUid(dear.id);
  await insertEndedRun(uid, '2026-02-01T00:00:00.000Z');
  await insertEndedRun(uid, '2026-02-03T23:59:59.999Z', { status: 'timed_out', costUsd: 1, cpuMs: null });
  await insertEndedRun(uid, '2026-03-01T00:00:00.000Z');
  const usage = await waitUntil(async () => {
    const body = await read('2026-02');
    return body.total.runs === 2 && body;
  });
  expect(usage.total).toEqual({ runs: 2, failed: 1, compute_ms: 1_500, cost_usd: 1.25 });
  expect(usage.days).toHaveLength(28);
  expect(usage.days.slice(0, 3)).toEqual([
    { day: '2026-02-01', runs: 1, failed: 0, compute_ms: 1_500, cost_usd: 0.25 },
    { day: '2026-02-02', runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 },
    { day: '2026-02-03', runs: 1, failed: 1, compute_ms: 0, cost_usd: 1 },
  ]);
  expect(usage.workers).toEqual([
    { id: dear.id, name: 'Dear', deleted: false, budget_usd: null, ...usage.total },
    { id: idle.id, name: 'Idle with a budget', deleted: false, budget_usd: 2, ...NOTHING },
  ]);
  expect(usage.others).toEqual({ workers: 0, ...NOTHING });
});

test('a private worker of another member counts without its name, and another workspace has nothing', async () => {
  const hidden = await createWorker(api, { name: 'Hidden', visibility: 'private' });
  await insertEndedRun(await getUid(hidden.id), '2026-04-02T12:00:00.000Z');
  const member = createCaller(api.url, (await api.addMember('member')).jwt);
  const usage = await waitUntil(async () => {
    const body = await read('2026-04', member);
    return body.total.runs === 1 && body;
  });
  expect(usage.others).toEqual({ workers: 1, runs: 1, failed: 0, compute_ms: 1_500, cost_usd: 0.25 });
  expect(JSON.stringify(usage)).not.toContain('Hidden');
  expect((await read('2026-04')).workers).toContainEqual(expect.objectContaining({ id: hidden.id, runs: 1 }));
  const elsewhere = await read('2026-04', createCaller(api.url, api.foreign.owner.jwt));
  expect(elsewhere).toMatchObject({ total: NOTHING, workers: [], others: { workers: 0 } });
});

test('the current month ends today, and an invalid month is refused', async () => {
  const { body } = await owner.get('/api/usage').expect(200);
  expect(body.days.at(-1).day).toBe(new Date().toISOString().slice(0, 10));
  await owner.get('/api/usage?month=2026-13').expect(400);
});

const NOTHING = { runs: 0, failed: 0, compute_ms: 0, cost_usd: 0 };
