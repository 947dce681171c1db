/** Three replicas on one database; the clock is the test's. */
import { buildEventSubjectPattern, connectBus, scheduleMissed, upsertClosure } from '@gantry/events';
import { waitUntil } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { addVersion, createTestWorker, type MadeWorker } from '../../test/create-test-worker';
import { testWorkerApi } from '../../test/test-worker-api';
import { replaceTriggers } from '../../triggers/trigger-repository';
import type { WorkerApi } from '../../worker-api';

let replicas: WorkerApi[];
let me: ReturnType<typeof createCaller>;
let now = new Date('2026-01-05T08:59:30Z');

const api = testWorkerApi({ now: () => now });
beforeAll(async () => {
  replicas = [api, await api.replica(), await api.replica()];
  me = createCaller(api.url, api.owner.jwt);
});
afterEach(() => api.deps.pool.query('UPDATE worker_triggers SET next_run_at = NULL'));

const clock = (time: string) => {
  now = new Date(time);
};
/** Every replica ticks at once, several times. */
async function tickAll(): Promise<number> {
  const made = await Promise.all([...replicas, ...replicas].map(({ cronTicker }) => cronTicker.tick()));
  return made.reduce((sum, count) => sum + count, 0);
}
const files = [{ path: 'main.py', content: 'def run(**inputs): return inputs' }];
async function createScheduled(trigger: object, body: object = {}): Promise<string> {
  const worker = { name: 'Scheduled', files, trigger: { type: 'cron', ...trigger }, ...body };
  return (await me.post('/api/workers', worker).expect(201)).body.id;
}
const listRuns = async (id: string) => (await me.get(`/api/runs?worker_id=${id}&limit=200`).expect(200)).body;
const getTrigger = async (id: string) => (await me.get(`/api/workers/${id}`).expect(200)).body.triggers[0];
const ofNow = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString();

test('a schedule fires once at its time, however many replicas tick', async () => {
  clock('2026-01-05T08:59:30Z');
  const id = await createScheduled({ cron: '0 9 * * MON-FRI', inputs: { who: 'Ada' } });
  expect(await tickAll()).toBe(0);
  expect(await getTrigger(id)).toMatchObject({ next_run_at: '2026-01-05T09:00:00.000Z', last_scheduled_at: null });
  clock('2026-01-05T09:00:00.200Z');
  expect(await tickAll()).toBe(1);
  clock('2026-01-05T09:00:01Z');
  expect(await tickAll()).toBe(0);
  expect(await listRuns(id)).toMatchObject([{ trigger: 'schedule', worker_version: 1, status: 'queued' }]);
  const [{ id: runId }] = await listRuns(id);
  expect((await me.get(`/api/runs/${runId}`)).body.input).toEqual({ who: 'Ada' });
  expect(await getTrigger(id)).toEqual({
    type: 'cron',
    cron: '0 9 * * MON-FRI',
    timezone: 'UTC',
    misfire: 'fire_once',
    inputs: { who: 'Ada' },
    next_run_at: '2026-01-06T09:00:00.000Z',
    last_scheduled_at: '2026-01-05T09:00:00.000Z',
    missed_fires: 0,
  });
});

test('a thousand that are due in the same second all start, once', async () => {
  clock('2026-01-05T09:29:59Z');
  const { pool } = api.deps;
  const { uid } = await createTestWorker(api);
  const copies = 'generate_series(1, 1000) i';
  await pool.query(
    `INSERT INTO workers (uid, workspace_id, id, name, description, tags, runner, current_version, updated_at)
     SELECT 'wrk_many' || i, $1, 'many' || i, 'Many', '', '{}', 'python', 1, now() FROM ${copies}`,
    [api.workspaceId],
  );
  await pool.query(
    `INSERT INTO worker_versions (worker_uid, number, workspace_id, sha, definition, files, code_digest, code_key, code_size, change_source)
     SELECT 'wrk_many' || i, 1, workspace_id, sha, definition, files, code_digest, code_key, code_size, change_source
     FROM worker_versions, ${copies} WHERE worker_uid = $1`,
    [uid],
  );
  await pool.query(
    `INSERT INTO worker_triggers (id, worker_uid, workspace_id, type, cron, timezone, misfire, inputs, next_run_at, "on")
     SELECT 'trg_many' || i, 'wrk_many' || i, $1, 'cron', '30 9 * * *', 'UTC', 'fire_once', '{}', '2026-01-05T09:30:00Z', '{}'
     FROM ${copies}`,
    [api.workspaceId],
  );
  clock('2026-01-05T09:30:00Z');
  expect(await tickAll()).toBe(1_000);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS runs, count(DISTINCT subject_id)::int AS workers FROM runs WHERE subject_id LIKE 'wrk_many%'`,
  );
  expect(rows).toEqual([{ runs: 1_000, workers: 1_000 }]);
  expect(await tickAll()).toBe(0);
});

test.each([
  ['skip', 0, 0],
  ['fire_once', 1, 1],
  ['catch_up', 3, 3],
] as const)(
  'after three missed hours %s starts %i, and says what was missed',
  async (misfire, started, startedLate) => {
    clock('2026-01-05T12:00:30Z');
    const id = await createScheduled({ cron: '0 * * * *', misfire });
    clock('2026-01-05T15:30:00Z');
    const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.deps.log });
    const announced = spectator.nc.subscribe(buildEventSubjectPattern(scheduleMissed), { max: 1, timeout: 60_000 });
    await spectator.nc.flush();
    expect(await tickAll()).toBe(started);
    expect(await listRuns(id)).toHaveLength(started);
    expect(await getTrigger(id)).toMatchObject({ missed_fires: 3, next_run_at: '2026-01-05T16:00:00.000Z' });
    for await (const message of announced) {
      const since = Date.parse('2026-01-05T13:00:00Z');
      expect(message.json()).toMatchObject({
        workspaceid: api.workspaceId,
        data: { workerId: id, missed: 3, since, startedLate },
      });
    }
    await spectator.nc.close();
  },
);

test.each([
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00:00Z', ['2026-03-29T01:00:00.000Z']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T22:00:00Z', ['2026-10-25T00:30:00.000Z']],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T13:00:00Z', ['2026-04-04T14:45:00.000Z']],
])('%s in %s runs once in the night that begins at %s', async (cron, timezone, evening, expected) => {
  clock(evening);
  const id = await createScheduled({ cron, timezone });
  for (let i = 0; i < 20; i++) {
    clock(ofNow(15));
    await tickAll();
  }
  const { rows } = await api.deps.pool.query(
    'SELECT scheduled_for FROM runs WHERE subject_ref = $1 ORDER BY scheduled_for',
    [id],
  );
  expect(rows.map(({ scheduled_for }) => scheduled_for.toISOString())).toEqual(expected);
});

test.each(['pause', 'archive'])('fires between %s and its undoing neither run nor count as missed', async (off) => {
  clock('2026-01-06T10:00:30Z');
  const id = await createScheduled({ cron: '*/10 * * * *' });
  await me.post(`/api/workers/${id}/${off}`).expect(200);
  expect(await getTrigger(id)).toMatchObject({ next_run_at: null });
  clock('2026-01-06T11:05:00Z');
  expect(await tickAll()).toBe(0);
  await me.post(`/api/workers/${id}/${off === 'pause' ? 'resume' : 'restore'}`).expect(200);
  expect(await tickAll()).toBe(0);
  expect(await getTrigger(id)).toMatchObject({ missed_fires: 0, next_run_at: '2026-01-06T11:10:00.000Z' });
});

test('workers of a deleted workspace do not run', async () => {
  clock('2026-01-06T12:00:30Z');
  const { workspaceId } = api.foreign;
  const worker = await createTestWorker(api, { workspaceId });
  const cron = { type: 'cron', cron: '1 12 * * *', timezone: 'UTC', misfire: 'skip', inputs: {}, path: '' } as const;
  await replaceTriggers(api.deps.prisma, { uid: worker.uid, workspaceId, status: 'active' }, [cron], now);
  const purgeAt = Date.now();
  await upsertClosure(api.deps.pool, { workspaceId, purgeAt, restored: false });
  clock('2026-01-06T12:01:00Z');
  expect(await tickAll()).toBe(0);
  await upsertClosure(api.deps.pool, { workspaceId, purgeAt, restored: true });
  expect(await tickAll()).toBe(1);
});

test('an edit that does not change the schedule does not change the next fire', async () => {
  clock('2026-01-06T13:00:30Z');
  const id = await createScheduled({ cron: '1 13 * * *' });
  clock('2026-01-06T13:01:01Z');
  await me
    .patch(`/api/workers/${id}`, { trigger: { type: 'cron', cron: '1 13 * * *', inputs: { a: 1 } }, name: 'Renamed' })
    .expect(200);
  expect(await tickAll()).toBe(1);
  await me.patch(`/api/workers/${id}`, { trigger: 'manual' }).expect(200);
  expect(await getTrigger(id)).toEqual({ type: 'manual' });
});

describe('a run that cannot start is a failed run', () => {
  const fires = async (definition: object, prepare: (worker: MadeWorker) => Promise<unknown>) => {
    clock('2026-01-07T10:00:30Z');
    const worker = await createTestWorker(api, { definition });
    const cron = { type: 'cron', cron: '1 10 * * *', timezone: 'UTC', misfire: 'skip', inputs: {}, path: '' } as const;
    const { workspaceId } = api;
    await replaceTriggers(api.deps.prisma, { uid: worker.uid, workspaceId, status: 'active' }, [cron], now);
    await prepare(worker);
    clock('2026-01-07T10:01:00Z');
    expect(await tickAll()).toBe(1);
    const [run] = await waitUntil(async () => {
      const runs = await listRuns(worker.id);
      return runs[0]?.status === 'failed' && runs;
    });
    return run;
  };

  test('if a newer version requires other inputs than the schedule has', async () => {
    const run = await fires({}, (worker) => addVersion(api, worker, { number: 2, definition: { inputs: ['colour'] } }));
    expect(run).toMatchObject({ trigger: 'schedule', worker_version: 2, error_code: 'invalid_inputs' });
    expect((await me.get(`/api/runs/${run.id}`)).body.error).toContain('inputs.colour');
  });

  test("if the month's budget is exhausted", async () => {
    const run = await fires({ limits: { budget_usd_per_month: 1 } }, (worker) =>
      api.deps.pool.query("INSERT INTO worker_month_costs (worker_uid, month, usd) VALUES ($1, '2026-01-01', 2)", [
        worker.uid,
      ]),
    );
    expect(run).toMatchObject({ error_code: 'budget_exceeded' });
  });
});

test('a schedule that fails for an unforeseen reason is missed, and blocks no other', async () => {
  clock('2026-01-08T10:00:30Z');
  const poisoned = await createScheduled({ cron: '1 10 * * *' });
  const others = [await createScheduled({ cron: '1 10 * * *' }), await createScheduled({ cron: '1 10 * * *' })];
  const { rows } = await api.deps.pool.query('SELECT uid FROM workers WHERE id = $1', [poisoned]);
  const spies = replicas.map(({ deps }) => {
    const { submitInTransaction: submitIn } = deps.engine;
    return jest.spyOn(deps.engine, 'submitInTransaction').mockImplementation(async (tx, run) => {
      if (run.subjectId === rows[0].uid) await tx.query('SELECT 1 / 0');
      return submitIn(tx, run);
    });
  });
  clock('2026-01-08T10:01:00Z');
  expect(await tickAll()).toBe(2);
  for (const spy of spies) spy.mockRestore();
  for (const id of others) expect(await listRuns(id)).toHaveLength(1);
  expect(await getTrigger(poisoned)).toMatchObject({ missed_fires: 1, next_run_at: '2026-01-09T10:01:00.000Z' });
  expect(api.logs.lines).toContainEqual(
    expect.objectContaining({ msg: 'scheduled run not started', workerId: poisoned }),
  );
});

test('a replica that dies before its commit has started nothing, and another one does', async () => {
  clock('2026-01-09T10:00:30Z');
  const id = await createScheduled({ cron: '1 10 * * *' });
  clock('2026-01-09T10:01:00Z');
  const submitIn = jest.spyOn(api.deps.engine, 'submitInTransaction').mockImplementationOnce(async () => {
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '57P01' });
  });
  await api.cronTicker.tick().catch(() => {});
  submitIn.mockRestore();
  await tickAll();
  expect(await listRuns(id)).toHaveLength(1);
});

test('a worker whose inputs refuse its schedule is not created', async () => {
  const body = { name: 'x', files, inputs: ['who'], trigger: { type: 'cron', cron: '* * * * *' } };
  const answer = await me.post('/api/workers', body).expect(400);
  expect(answer.body.errors).toEqual([{ path: 'trigger.inputs.who', message: 'is required' }]);
});
