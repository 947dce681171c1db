import { createBatcher } from './batch-calls';

/** Work that ends when the test says so. */
function createPendingWork() {
  const begun: { args: number[]; end: (results: number[]) => void; fail: (err: Error) => void }[] = [];
  const work = (args: number[]) =>
    new Promise<number[]>((resolve, reject) => begun.push({ args, end: resolve, fail: reject }));
  return { begun, work };
}

const flushEventLoop = () => new Promise((resolve) => setImmediate(resolve));

test('a single call runs at once, and those that arrive meanwhile run together', async () => {
  const { begun, work } = createPendingWork();
  const call = createBatcher(work, 2);
  const results = Promise.all([1, 2, 3, 4].map(call));
  expect(begun.map(({ args }) => args)).toEqual([[1]]);
  begun[0]?.end([10]);
  await flushEventLoop();
  expect(begun.map(({ args }) => args)).toEqual([[1], [2, 3]]);
  begun[1]?.end([20, 30]);
  await flushEventLoop();
  begun[2]?.end([40]);
  expect(await results).toEqual([10, 20, 30, 40]);
});

test('a failure reaches only the callers of that batch', async () => {
  const { begun, work } = createPendingWork();
  const call = createBatcher(work, 10);
  const results = Promise.allSettled([1, 2, 3].map(call));
  begun[0]?.end([10]);
  await flushEventLoop();
  begun[1]?.fail(new Error('lost'));
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  const later = call(4);
  begun[2]?.end([40]);
  expect(await later).toBe(40);
});
