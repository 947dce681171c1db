/** Tests that one statement inserts a run and marks its request's Idempotency-Key. */
import type { HeldKey } from '@gantry/limits';
import { waitUntil } from '@gantry/testing';
import type { QueryConfig } from 'pg';
import type { RunEngine } from '../engine';
import { type NewRun, SubjectChangedError } from '../run';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';

const KEY: HeldKey = { scope: 'usr_1 ws_a', operation: 'startRun', key: 'k', claim: 'claim_1' };

let engines: TestEngines;
let engine: RunEngine;
let isCurrent = true;

beforeAll(async () => {
  engines = await startTestEngines();
  await engines.pool.query('CREATE TABLE current (yes boolean NOT NULL)');
});
beforeEach(async () => {
  isCurrent = true;
  await engines.pool.query('TRUNCATE idempotency_keys');
  await engines.pool.query(
    `INSERT INTO idempotency_keys (scope, operation, key, claim, lease_until, request_hash)
     VALUES ($1, $2, $3, $4, now() + interval '1 minute', '')`,
    [KEY.scope, KEY.operation, KEY.key, KEY.claim],
  );
  engine = await engines.replica({ isCurrent: 'EXISTS (SELECT FROM current WHERE yes)' });
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const keyedRun = (over: Partial<NewRun> = {}) => buildTestRun({ idempotencyKey: KEY, ...over });
const setCurrent = async () => {
  await engines.pool.query('DELETE FROM current');
  await engines.pool.query('INSERT INTO current VALUES ($1)', [isCurrent]);
};
const getMadeId = async () => (await engines.pool.query('SELECT made_id FROM idempotency_keys')).rows[0].made_id;
const listRunIds = async () => (await engines.pool.query('SELECT id FROM runs')).rows.map(({ id }) => id);

test('a run marks the key, whether it is queued, leased at once or part of a transaction', async () => {
  const queued = await engine.submitAndWait(keyedRun());
  expect(await getMadeId()).toBe(queued.id);

  const stop = (await engines.executor()).serve(1, () => 'done');
  await engine.waitForEnd(queued, 5_000);
  const leased = await waitUntil(async () => {
    await engines.pool.query('UPDATE idempotency_keys SET made_id = NULL');
    const run = await engine.submitAndWait(keyedRun());
    return run.status === 'running' && run;
  });
  expect(await getMadeId()).toBe(leased.id);
  await stop();

  await engines.pool.query('UPDATE idempotency_keys SET made_id = NULL');
  const held = await engines.tx((tx) => engine.submitInTransaction(tx, keyedRun({ held: true })));
  expect(await getMadeId()).toBe(held?.id);
  await engines.pool.query('UPDATE idempotency_keys SET made_id = NULL');
  const failed = engines.tx(async (tx) => {
    await engine.submitInTransaction(tx, keyedRun());
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(await getMadeId()).toBeNull();
});

test.each([
  ['another request has taken', "claim = 'claim_2'"],
  ['has created its run already', "made_id = 'run_before'"],
  ['was swept', "key = 'gone'"],
])('a key that %s creates no run', async (_what, change) => {
  await engines.pool.query(`UPDATE idempotency_keys SET ${change}`);
  await expect(engine.submitAndWait(keyedRun())).rejects.toMatchObject({ status: 409, code: 'in_flight' });
  await expect(engines.tx((tx) => engine.submitInTransaction(tx, keyedRun()))).rejects.toMatchObject({
    code: 'in_flight',
  });
  expect(await listRunIds()).toEqual([]);
});

test('of two replicas that believe they hold a key, one creates a run', async () => {
  const other = await engines.replica();
  const outcomes = await Promise.allSettled([engine.submitAndWait(keyedRun()), other.submitAndWait(keyedRun())]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await listRunIds()).toEqual([await getMadeId()]);
});

test('a run whose subject has changed is not created, and its key stays free', async () => {
  isCurrent = false;
  await setCurrent();
  await expect(engine.submitAndWait(keyedRun({ onlyIfCurrent: true }))).rejects.toThrow(SubjectChangedError);
  expect([await getMadeId(), await listRunIds()]).toEqual([null, []]);
  isCurrent = true;
  await setCurrent();
  const run = await engine.submitAndWait(keyedRun({ onlyIfCurrent: true }));
  expect(await getMadeId()).toBe(run.id);
});

test('a run costs one statement, with or without a key, and without one no key is queried', async () => {
  const statements: string[] = [];
  const pool = Object.create(engines.pool, {
    query: {
      value: (config: QueryConfig) => {
        const text = config.text ?? String(config);
        if (/INTO runs|idempotency_keys/.test(text)) statements.push(text);
        return engines.pool.query(config);
      },
    },
  });
  const counted = await engines.replica({ pool });
  await counted.submitAndWait(buildTestRun());
  expect(statements).toEqual([expect.not.stringContaining('idempotency_keys')]);
  await counted.submitAndWait(keyedRun());
  expect(statements).toHaveLength(2);
});
