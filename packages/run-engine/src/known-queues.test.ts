import { createKnownQueues } from './known-queues';

test('a queue is known to be empty from the query on, until a hint that arrives meanwhile or later', () => {
  const queues = createKnownQueues();
  expect(queues.mayHave('python')).toBe(true);
  queues.asked(['python', 'node']);
  expect([queues.mayHave('python'), queues.mayHave('node'), queues.mayHave('other')]).toEqual([false, false, true]);
  queues.queued('node');
  expect([queues.mayHave('python'), queues.mayHave('node')]).toEqual([false, true]);
  queues.queued('');
  expect(queues.mayHave('python')).toBe(true);
});
