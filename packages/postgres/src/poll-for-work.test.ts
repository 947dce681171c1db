import { setupPool, waitUntil } from '@gantry/testing';
import type { Pool, QueryConfig } from 'pg';
import { pollForWork } from './poll-for-work';

const database = setupPool('worker-api');
const warn = jest.fn();
/** The polls of a test: a pool has one for all its loops. */
const query = jest.fn((statement: QueryConfig) => database.query(statement));
let pool: Pool;
beforeEach(() => {
  pool = { query } as unknown as Pool;
  query.mockClear();
});

const watch = (condition: string, work: () => unknown) =>
  pollForWork({ pool, condition, work, what: 'the test', log: { warn } });

const untilPolledAgain = () => {
  const before = query.mock.calls.length;
  return waitUntil(() => query.mock.calls.length > before + 1);
};

test('loops of a pool share a statement, and each works while its own condition is true', async () => {
  await database.query('CREATE TABLE waiting (id int); INSERT INTO waiting VALUES (1)');
  const idle = jest.fn();
  const deleted: unknown[] = [];
  const watches = [
    watch('EXISTS (SELECT FROM waiting WHERE id > 1)', idle),
    watch('EXISTS (SELECT FROM waiting)', async () => {
      deleted.push((await database.query('DELETE FROM waiting')).rowCount);
    }),
  ];
  await waitUntil(() => deleted.length > 0);
  await untilPolledAgain();
  for (const { stop } of watches) await stop();
  expect(deleted).toEqual([1]);
  expect(idle).not.toHaveBeenCalled();
  expect(new Set(query.mock.calls.map(([{ text }]) => text)).size).toBe(1);
});

test('failed work is logged and retried, also where a statement has failed in between', async () => {
  let times = 0;
  const watched = watch('true', () => {
    times++;
    throw new Error('the receiver is away');
  });
  await waitUntil(() => times > 0);
  query.mockImplementationOnce(() => Promise.reject(new Error('no connection')));
  await untilPolledAgain();
  const before = times;
  await waitUntil(() => times > before);
  await watched.stop();
  expect(warn).toHaveBeenCalledTimes(times);
  expect(warn.mock.lastCall?.[1]).toBe('the test: will try again');
});

test('work never overlaps, and stopping waits for it', async () => {
  let begun = 0;
  let finish = () => {};
  const watched = watch('true', () => {
    begun++;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  await waitUntil(() => begun === 1);
  await untilPolledAgain();
  let isStopped = false;
  const stopping = watched.stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect({ begun, isStopped }).toEqual({ begun: 1, isStopped: false });
  finish();
  await stopping;
});
