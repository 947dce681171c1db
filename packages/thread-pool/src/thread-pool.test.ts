import path from 'node:path';
import { createThreadPool, type ThreadLimits, type ThreadPool } from './thread-pool';

const FOREVER = 600_000;
const openPools: ThreadPool<string | number, string>[] = [];
afterEach(async () => {
  for (const pool of openPools.splice(0)) await pool.stop();
});

function createPool(limits: Partial<ThreadLimits> = {}, file = 'test/test-thread.cjs') {
  const pool = createThreadPool<string | number, string>(path.join(__dirname, file), {
    threads: 1,
    taskMs: 60_000,
    waitMs: 60_000,
    heapMb: 64,
    ...limits,
  });
  openPools.push(pool);
  return pool;
}

test('tasks get their results, also if there are more of them than threads', async () => {
  const pool = createPool({ threads: 2 });
  const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((task) => pool.run(task)));
  expect(outcomes).toEqual(['A', 'B', 'C', 'D', 'E'].map((result) => ({ result })));
});

test('a task does not block the event loop', async () => {
  const pool = createPool();
  await pool.run('warm');
  const order: string[] = [];
  const task = pool.run(300).then(() => order.push('task'));
  await new Promise((resolve) => setTimeout(resolve, 1)).then(() => order.push('timer'));
  await task;
  expect(order).toEqual(['timer', 'task']);
});

test.each([
  ['its time', FOREVER, { taskMs: 200 }],
  ['its memory', 'leak', {}],
])('a task that exceeds %s fails, and the next one gets a new thread', async (_, task, limits) => {
  const pool = createPool(limits);
  const costly = pool.run(task);
  expect(await costly).toMatchObject({ reason: 'costly' });
  expect(await pool.run('next')).toEqual({ result: 'NEXT' });
});

test('a task whose code throws fails alone', async () => {
  const pool = createPool();
  expect(await pool.run('throw')).toMatchObject({ reason: 'failed', problem: 'not this one' });
  expect(await pool.run('next')).toEqual({ result: 'NEXT' });
});

test('a task that waits too long is not tried', async () => {
  const pool = createPool({ waitMs: 50 });
  while (!('result' in (await pool.run('warm'))));
  const long = pool.run(2_000);
  expect(await pool.run('next')).toMatchObject({ reason: 'busy' });
  expect(await long).toEqual({ result: '2000' });
});

test.each([
  ['cannot start', 'test/no-such-file.cjs'],
  ['ends before it serves tasks', 'test/ended-thread.cjs'],
])('a thread that %s fails the tasks that wait for it', async (_, file) => {
  const pool = createPool({ threads: 2 }, file);
  const outcomes = await Promise.all([pool.run('a'), pool.run('b')]);
  expect(outcomes).toEqual([
    expect.objectContaining({ reason: 'failed' }),
    expect.objectContaining({ reason: 'failed' }),
  ]);
});

test('a stopped pool ends its tasks and accepts no more', async () => {
  const pool = createPool();
  await pool.run('warm');
  const long = pool.run(FOREVER);
  await pool.stop();
  expect([await long, await pool.run('next')]).toMatchObject([{ reason: 'busy' }, { reason: 'busy' }]);
});
