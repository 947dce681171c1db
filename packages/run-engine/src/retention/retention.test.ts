import type { ObjectStore } from '@gantry/object-store';
import { type Run, runStatuses } from '../run';
import { newRunId } from '../run-row';
import { startTestEngines, type TestEngines } from '../test/engines';
import { DEFAULT_RETENTION, deleteExpiredEvents, deleteExpiredRuns, type Retention, writeRetention } from '.';

const DAY_MS = 86_400_000;
const NOW = new Date('2027-05-20T10:00:00Z');
const now = () => NOW;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

let engines: TestEngines;
let blobs: Set<string>;
beforeAll(async () => {
  engines = await startTestEngines();
});
beforeEach(() => {
  blobs = new Set();
});
afterEach(async () => {
  await engines.reset();
  await sql('TRUNCATE run_retention');
});
afterAll(() => engines.stop());

const sql = (text: string, values: unknown[] = []) => engines.pool.query(text, values);
const objects = {
  delete: async (key: string) => void blobs.delete(key),
  deleteFolder: async (folder: string) => {
    for (const key of blobs) if (key.startsWith(`${folder}/`)) blobs.delete(key);
  },
} as ObjectStore;
const deps = () => ({ pool: engines.pool, objects, bounds: DEFAULT_RETENTION, now });
const setRetention = (workspaceId: string, over: Partial<Retention> = {}) =>
  writeRetention(engines.pool, { workspaceId, runDays: 90, logDays: 30, runsKept: 0, ...over, changedAt: NOW });

interface RunOptions {
  days: number;
  /** Default: `days`. */
  endedDays?: number;
  workspaceId?: string;
  subjectId?: string;
  status?: Run['status'];
  kind?: Run['kind'];
  replayOf?: string;
  files?: string[];
}

/** Inserts a run with an event and an object. */
async function insertTestRun({
  days,
  endedDays = days,
  workspaceId = 'ws_a',
  subjectId = 'wrk_1',
  ...rest
}: RunOptions) {
  const { status = 'completed', kind = 'run', replayOf = null, files = [] } = rest;
  const id = newRunId(kind, daysAgo(days));
  const ended = ['queued', 'running', 'suspended', 'pending_approval'].includes(status) ? null : daysAgo(endedDays);
  const spec = { files: files.map((key) => ({ key })) };
  await sql(
    `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, parent_run_id, inputs, spec, created_at, finished_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, '{}', $8, $9, $10)`,
    [id, workspaceId, subjectId, kind, replayOf ? 'replay' : 'api', status, replayOf, spec, daysAgo(days), ended],
  );
  await sql("INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, 1000001, $2, 'log', '{}')", [
    id,
    daysAgo(days),
  ]);
  await sql("INSERT INTO run_steps (run_id, ordinal, kind, name, status) VALUES ($1, 1, 'step', 'a', 'completed')", [
    id,
  ]);
  for (const key of [`${workspaceId}/runs/${id}/1/output`, ...files]) blobs.add(key);
  return id;
}

const listIds = async (table: string, column: string): Promise<string[]> =>
  (await sql(`SELECT DISTINCT ${column} AS id FROM ${table}`)).rows.map(({ id }) => id).sort();
const listRunIds = () => listIds('runs', 'id');
const listRunIdsWithEvents = () => listIds('run_events', 'run_id');

test('a run is deleted 90 days after its end, with its events, steps and objects, a newer one is kept', async () => {
  await setRetention('ws_a');
  await insertTestRun({ days: 91 });
  const young = await insertTestRun({ days: 89 });
  const longRunning = await insertTestRun({ days: 200, endedDays: 1 });
  expect(await deleteExpiredRuns(deps())).toBe(1);
  const kept = [young, longRunning].sort();
  expect(await listRunIds()).toEqual(kept);
  expect(await listRunIdsWithEvents()).toEqual(kept);
  expect(await listIds('run_steps', 'run_id')).toEqual(kept);
  expect([...blobs].sort()).toEqual(kept.map((id) => `ws_a/runs/${id}/1/output`));
});

test('an active run is kept, however old it is', async () => {
  await setRetention('ws_a');
  for (const status of runStatuses) await insertTestRun({ days: 400, status });
  await deleteExpiredRuns(deps());
  const { rows } = await sql('SELECT status FROM runs ORDER BY 1');
  expect(rows.map(({ status }) => status)).toEqual(['pending_approval', 'queued', 'running', 'suspended']);
});

test('the newest runs of each worker are kept, but not its test runs', async () => {
  await setRetention('ws_a', { runsKept: 2 });
  const kept: string[] = [];
  for (const subjectId of ['wrk_1', 'wrk_2']) {
    for (const days of [300, 200, 190, 180]) {
      const id = await insertTestRun({ days, subjectId });
      if (days < 200) kept.push(id);
    }
    await insertTestRun({ days: 170, subjectId, kind: 'test' });
  }
  expect(await deleteExpiredRuns(deps())).toBe(6);
  expect(await listRunIds()).toEqual(kept.sort());
});

test('each workspace has its own retention, up to the operator’s maximum', async () => {
  await setRetention('ws_short', { runDays: 7 });
  await setRetention('ws_long', { runDays: 10_000 });
  await insertTestRun({ days: 8, workspaceId: 'ws_short' });
  const kept = [
    await insertTestRun({ days: 300, workspaceId: 'ws_long' }),
    await insertTestRun({ days: 80, workspaceId: 'ws_other' }),
  ];
  await insertTestRun({ days: 366, workspaceId: 'ws_long' });
  await deleteExpiredRuns(deps());
  expect(await listRunIds()).toEqual(kept.sort());
});

test('one sweep deletes more runs than a batch, also with two sweeps at once', async () => {
  await setRetention('ws_a');
  await sql(
    `INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, inputs, spec, created_at, finished_at)
     SELECT 'run_' || n, 'ws_a', 'wrk_1', 'run', 'api', 'completed', '{}', '{}', $1, $1 FROM generate_series(1, 1200) n`,
    [daysAgo(100)],
  );
  const [one, two] = await Promise.all([deleteExpiredRuns(deps()), deleteExpiredRuns(deps())]);
  expect(one + two).toBe(1_200);
  expect(await listRunIds()).toEqual([]);
});

test('input files shared with a replay are deleted with the last run that has them', async () => {
  await setRetention('ws_a');
  const files = ['ws_a/inputs/in_1', 'ws_b/inputs/in_2'];
  const first = await insertTestRun({ days: 100, files });
  const replay = await insertTestRun({ days: 50, replayOf: first, files });
  await deleteExpiredRuns(deps());
  expect(await listRunIds()).toEqual([replay]);
  expect([...blobs]).toEqual(expect.arrayContaining(files));
  await deleteExpiredRuns({ ...deps(), now: () => new Date(NOW.getTime() + 60 * DAY_MS) });
  // An object of another workspace is never touched.
  expect([...blobs]).toEqual(['ws_b/inputs/in_2']);
});

test('other rows of runs are deleted in the same transaction, or nothing is', async () => {
  await setRetention('ws_a');
  const old = await insertTestRun({ days: 100 });
  const failing = deleteExpiredRuns({
    ...deps(),
    deleteWithRuns: async (_tx, ids) => {
      expect(ids).toEqual([old]);
      throw new Error('refused');
    },
  });
  await expect(failing).rejects.toThrow('refused');
  expect(await listRunIds()).toEqual([old]);
});

describe('events', () => {
  const partitions = () => listIds("pg_class WHERE relname ~ '^run_events_2' AND relkind = 'r'", 'relname');
  const deleteExpiredEventsAt = (at: Date) => deleteExpiredEvents({ ...deps(), now: () => at });
  afterEach(async () => {
    for (const name of await partitions()) await sql(`DROP TABLE ${name}`);
  });

  test('are in the week of their run, including those written before the week existed', async () => {
    const early = await insertTestRun({ days: -7 });
    await deleteExpiredEventsAt(NOW);
    const late = await insertTestRun({ days: -7 });
    const ahead = await insertTestRun({ days: -14 });
    const now = await insertTestRun({ days: 0 });
    expect(await listIds('run_events_20270527', 'run_id')).toEqual([early, late].sort());
    expect(await listIds('run_events_20270603', 'run_id')).toEqual([ahead]);
    expect(await listIds('run_events_default', 'run_id')).toEqual([now]);
    const { rows } = await sql(`EXPLAIN SELECT * FROM run_events WHERE run_id = '${late}'`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('run_events_20270527');
    expect(plan).not.toMatch(/run_events_(default|202706)/);
  });

  test('can be written while the next weeks are created, and the weeks are contiguous', async () => {
    await deleteExpiredEventsAt(daysAgo(7));
    await engines.tx(async (reader) => {
      await reader.query('SELECT count(*) FROM run_events');
      const making = deleteExpiredEventsAt(NOW);
      await expect(making).rejects.toMatchObject({ code: '55P03' });
    });
    const between = await insertTestRun({ days: 0 });
    await Promise.all([deleteExpiredEventsAt(NOW), deleteExpiredEventsAt(NOW), insertTestRun({ days: 0 })]);
    expect(await partitions()).toEqual(
      ['20270520', '20270527', '20270603', '20270610'].map((day) => `run_events_${day}`),
    );
    expect(await listIds('run_events_20270520', 'run_id')).toContain(between);
  });

  test('are dropped by the week after 30 days, and an active run continues to log', async () => {
    await deleteExpiredEventsAt(daysAgo(57));
    const old = await insertTestRun({ days: 49, status: 'suspended' });
    const young = await insertTestRun({ days: 20 });
    await deleteExpiredEventsAt(NOW);
    expect(await listRunIdsWithEvents()).toEqual([young]);
    expect(await partitions()).not.toContain('run_events_20270401');
    await sql("INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, 2000001, $2, 'log', '{}')", [old, NOW]);
    await deleteExpiredEventsAt(NOW);
    expect(await listRunIdsWithEvents()).toEqual([old, young].sort());
  });

  test('of runs without a week, such as test runs and older ones, are deleted after the same time', async () => {
    const old = await insertTestRun({ days: 40, kind: 'test' });
    const young = await insertTestRun({ days: 29, kind: 'test' });
    expect(await listIds('run_events_default', 'run_id')).toEqual([old, young].sort());
    await deleteExpiredEventsAt(NOW);
    expect(await listRunIdsWithEvents()).toEqual([young]);
    await deleteExpiredEventsAt(daysAgo(-40));
    expect(await listRunIdsWithEvents()).toEqual([]);
  });

  test('of a workspace with a shorter retention are deleted separately', async () => {
    await setRetention('ws_short', { logDays: 3 });
    await deleteExpiredEventsAt(daysAgo(10));
    await insertTestRun({ days: 4, workspaceId: 'ws_short' });
    const kept = [
      await insertTestRun({ days: 2, workspaceId: 'ws_short' }),
      await insertTestRun({ days: 4, workspaceId: 'ws_other' }),
    ];
    await deleteExpiredEventsAt(NOW);
    expect(await listRunIdsWithEvents()).toEqual([...kept].sort());
    await deleteExpiredEventsAt(new Date(NOW.getTime() + 2 * DAY_MS));
    expect(await listRunIdsWithEvents()).toEqual([kept[1]]);
  });

  test('are dropped only without readers, waiting at most a second', async () => {
    await deleteExpiredEventsAt(daysAgo(57));
    const old = await insertTestRun({ days: 49 });
    await engines.tx(async (reader) => {
      await reader.query('SELECT FROM run_events WHERE run_id = $1', [old]);
      await expect(deleteExpiredEventsAt(NOW)).rejects.toMatchObject({ code: '55P03' });
    });
    await deleteExpiredEventsAt(NOW);
    expect(await listRunIdsWithEvents()).toEqual([]);
  });
});
