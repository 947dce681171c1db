import { setupPool, waitUntil } from '@gantry/testing';
import type { Pool, QueryConfig } from 'pg';
import { pollForWork, pollSoon } from './poll-for-work';
import type { RepeatingTask } from './repeating-task';
import { transaction } from './transaction';

const database = setupPool('worker-api');
const warn = jest.fn();
/** The polls of a test: a pool has one for all its loops. */
const query = jest.fn<Promise<unknown>, [QueryConfig]>();
let pool: Pool;
beforeEach(() => {
  pool = { query } as unknown as Pool;
  query.mockReset();
  query.mockImplementation((statement) => database.query(statement));
});

const watch = (dueAt: string, work: () => unknown) =>
  pollForWork({ pool, dueAt, work, what: 'the test', log: { warn } });

const untilPolledAgain = () => {
  pollSoon(pool);
  const before = query.mock.calls.length;
  return waitUntil(() => query.mock.calls.length > before);
};

test('loops of a pool share a statement, and each works while its own work is due', async () => {
  await database.query('CREATE TABLE waiting (id int); INSERT INTO waiting VALUES (1)');
  const idle = jest.fn();
  const deleted: unknown[] = [];
  const watches = [
    watch('(SELECT now() FROM waiting WHERE id > 1 LIMIT 1)', idle),
    watch('(SELECT now() FROM waiting LIMIT 1)', async () => {
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
  const watched = watch('now()', () => {
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
  const watched = watch('now()', () => {
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

describe('times of polls', () => {
  let dueMs: number | null = null;
  const work = jest.fn();
  let watched: RepeatingTask;
  beforeEach(() => {
    jest.useFakeTimers();
    work.mockClear();
    query.mockImplementation(async () => ({ rows: [[dueMs]] }));
    const client = { query: async () => ({}), release: () => {} };
    pool = { query, connect: async () => client } as unknown as Pool;
    watched = watch('planned', work);
  });
  afterEach(async () => {
    await watched.stop();
    jest.useRealTimers();
  });

  /** Lets time pass. @returns how many polls it had */
  async function countPolls(ms: number): Promise<number> {
    const before = query.mock.calls.length;
    await jest.advanceTimersByTimeAsync(ms);
    return query.mock.calls.length - before;
  }

  test('an idle process polls at multiples of five seconds, and soon after its own commits', async () => {
    dueMs = null;
    await countPolls(600);
    expect(await countPolls(4_000)).toBe(0);
    expect(await countPolls(57_400)).toBe(12);
    await transaction(pool, async () => {});
    await transaction(pool, async () => {});
    expect(await countPolls(550)).toBe(1);
    expect(await countPolls(2_000)).toBe(0);
    expect(work).not.toHaveBeenCalled();
  });

  test('a commit during a poll starts no second one beside it, but another one soon after', async () => {
    let answer = (_result: unknown) => {};
    query.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
    expect(await countPolls(600)).toBe(1);
    await transaction(pool, async () => {});
    expect(await countPolls(2_000)).toBe(0);
    answer({ rows: [[null]] });
    expect(await countPolls(100)).toBe(1);
  });

  test('work starts at its time, and is polled for twice a second while it stays due', async () => {
    dueMs = 3_000;
    await countPolls(550);
    dueMs = 0;
    expect(await countPolls(2_900)).toBe(0);
    expect(await countPolls(100)).toBe(1);
    expect(work).toHaveBeenCalledTimes(1);
    expect(await countPolls(5_000)).toBeGreaterThanOrEqual(9);
  });
});
