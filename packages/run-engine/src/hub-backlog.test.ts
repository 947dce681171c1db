import { createBacklog } from './hub-backlog';

const told = (seq: number) => ({ seq, type: 'log' as const, body: 'x'.repeat(10) });

test('it holds all events after `from`, and drops the oldest half when it exceeds its limit', () => {
  const backlog = createBacklog(4, 100);
  for (let seq = 5; seq <= 14; seq++) backlog.add(told(seq));
  expect([backlog.from, backlog.after(12)]).toEqual([4, [told(13), told(14)]]);
  backlog.add(told(15));
  expect(backlog.from).toBe(10);
  expect(backlog.after(backlog.from).map(({ seq }) => seq)).toEqual([11, 12, 13, 14, 15]);
});
