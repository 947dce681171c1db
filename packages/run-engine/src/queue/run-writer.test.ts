/** Tests that runs submitted at the same time are written together, each with its own outcome. */
import type { RunEngine } from '../engine';
import { type NewRun, SubjectChangedError } from '../run';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';

let engines: TestEngines;
let engine: RunEngine;
let inserts: number[];

beforeAll(async () => {
  engines = await startTestEngines();
});
beforeEach(async () => {
  inserts = [];
  const pool = Object.create(engines.pool, {
    query: {
      value: async (...args: unknown[]) => {
        // biome-ignore lint/suspicious/noExplicitAny: as the pool's own
        const result = await (engines.pool.query as any)(...args);
        if (/INSERT INTO runs/.test((args[0] as { text?: string }).text ?? '')) inserts.push(result.rowCount);
        return result;
      },
    },
  });
  engine = await engines.replica({ pool, isCurrent: '$version = 1' });
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

/** The first run occupies the statement while the others arrive. */
const submitAll = (runs: Partial<NewRun>[]) =>
  Promise.allSettled([{}, ...runs].map((run) => engine.submitAndWait(buildTestRun(run))));
const listRunIds = async () => (await engines.pool.query('SELECT id FROM runs ORDER BY id')).rows.map(({ id }) => id);

test('a burst takes two statements, and every run is stored before its response', async () => {
  const outcomes = await submitAll(Array.from({ length: 20 }, (_, n) => ({ inputs: { n, text: `"{},\\ä\n${n}` } })));
  const runs = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(inserts).toEqual([1, 20]);
  expect(await listRunIds()).toEqual(runs.map(({ id }) => id).sort());
  for (const { workspaceId, id, ...made } of runs) {
    const { cancelRequestedAt, ...kept } = await engine.get(workspaceId, id);
    expect(kept).toMatchObject({ inputs: made.inputs, spec: made.spec, status: 'queued', createdAt: made.createdAt });
  }
});

test('a closed workspace and a changed subject refuse only their own runs', async () => {
  await engines.pool.query(
    `INSERT INTO workspace_closures (workspace_id, purge_at, restored) VALUES ('ws_closed', now(), false)`,
  );
  const outcomes = await submitAll([
    { workspaceId: 'ws_closed' },
    { onlyIfCurrent: true, version: 1 },
    { onlyIfCurrent: true, version: 2 },
    {},
  ]);
  expect(outcomes).toEqual([
    expect.objectContaining({ status: 'fulfilled' }),
    { status: 'rejected', reason: expect.objectContaining({ status: 409, code: 'workspace_deleted' }) },
    expect.objectContaining({ status: 'fulfilled' }),
    { status: 'rejected', reason: expect.any(SubjectChangedError) },
    expect.objectContaining({ status: 'fulfilled' }),
  ]);
  expect(inserts).toEqual([1, 2]);
});

test('a row that PostgreSQL refuses does not fail the others', async () => {
  const outcomes = await submitAll([{}, { priority: 1_000_000 }, {}]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await listRunIds()).toHaveLength(3);
});

test('a large run is written separately', async () => {
  await submitAll([{ inputs: { text: 'a'.repeat(20_000) } }, {}, {}]);
  expect(inserts.toSorted()).toEqual([1, 1, 2]);
});
