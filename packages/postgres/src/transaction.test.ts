import { createDatabase, type TestDatabase } from '@gantry/testing';
import type { PoolClient } from 'pg';
import { pino } from 'pino';
import { createPool } from './pool';
import { afterCommit, execute, transaction } from './transaction';

let database: TestDatabase;
let pool: ReturnType<typeof createPool>;
beforeAll(async () => {
  database = await createDatabase('automation-api');
  pool = createPool(database.url, { service: 'things', log: pino({ level: 'silent' }), max: 1 });
  await pool.query('CREATE TABLE things (id text PRIMARY KEY)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => pool.query('TRUNCATE things'));

const INSERT = 'INSERT INTO things (id) VALUES ($1)';
const things = async () => (await pool.query('SELECT id FROM things ORDER BY id')).rows.map(({ id }) => id);

test('deferred work runs once, after the commit, in the order in which it was first deferred', async () => {
  const seen: string[] = [];
  const one = () => void seen.push('one');
  const made = await transaction(pool, async (tx) => {
    afterCommit(tx, one);
    afterCommit(tx, () => void seen.push('two'));
    afterCommit(tx, one);
    await execute(tx, INSERT, ['a']);
    expect(seen).toEqual([]);
    return 'made';
  });
  expect([made, seen, await things()]).toEqual(['made', ['one', 'two'], ['a']]);
});

test.each([
  ['work that throws', () => Promise.reject(new Error('no'))],
  ['a statement that fails', (tx: PoolClient) => tx.query('nonsense')],
])(
  'after %s nothing is stored, nothing deferred runs, and the next transaction has a connection',
  async (_what, fail) => {
    const deferred = jest.fn();
    const failing = transaction(pool, async (tx) => {
      await execute(tx, INSERT, ['a']);
      afterCommit(tx, deferred);
      await fail(tx);
    });
    await expect(failing).rejects.toThrow();
    expect(deferred).not.toHaveBeenCalled();
    await transaction(pool, (tx) => execute(tx, INSERT, ['b']));
    expect(await things()).toEqual(['b']);
  },
);

test('outside a transaction deferred work runs at once', async () => {
  const deferred = jest.fn();
  await execute(pool, INSERT, ['a']);
  afterCommit(pool, deferred);
  expect(deferred).toHaveBeenCalledTimes(1);
});
