import { createEmptyQueueCache } from './empty-queue-cache';

test('a queue is known to be empty from the query on, until a hint that arrives meanwhile or later', () => {
  const queues = createEmptyQueueCache();
  expect(queues.canHaveRuns('python')).toBe(true);
  queues.markEmpty(['python', 'node']);
  expect([queues.canHaveRuns('python'), queues.canHaveRuns('node'), queues.canHaveRuns('other')]).toEqual([
    false,
    false,
    true,
  ]);
  queues.markQueued('node');
  expect([queues.canHaveRuns('python'), queues.canHaveRuns('node')]).toEqual([false, true]);
  queues.markQueued('');
  expect(queues.canHaveRuns('python')).toBe(true);
});
