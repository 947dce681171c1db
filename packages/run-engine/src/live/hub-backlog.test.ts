import { createBacklog } from './hub-backlog';

const buildEvent = (seq: number) => ({ seq, type: 'log' as const, body: 'x'.repeat(10) });

test('it holds all events after `from`, and drops the oldest half when it exceeds its limit', () => {
  const backlog = createBacklog(4, 100);
  for (let seq = 5; seq <= 14; seq++) backlog.add(buildEvent(seq));
  expect([backlog.from, backlog.after(12)]).toEqual([4, [buildEvent(13), buildEvent(14)]]);
  backlog.add(buildEvent(15));
  expect(backlog.from).toBe(10);
  expect(backlog.after(backlog.from).map(({ seq }) => seq)).toEqual([11, 12, 13, 14, 15]);
});
