import { setTimeout as sleep } from 'node:timers/promises';
import { getAlignedDelay, setAlignedInterval } from './aligned-interval';

test.each([
  [10, 0, 41],
  [10, 15_000_000, 26],
  [10, 39_500_000, 1.5],
])('at %i s and %i ns, the next multiple of 40 ms is due in %d ms', (seconds, nanoseconds, delayMs) => {
  const clock = jest.spyOn(process, 'hrtime').mockReturnValue([seconds, nanoseconds]);
  // A millisecond later: a timer may fire early.
  expect(getAlignedDelay(40)).toBeCloseTo(delayMs, 6);
  clock.mockRestore();
});

test('an interval calls back until it is stopped, also in its own callback', async () => {
  let calls = 0;
  await new Promise<void>((resolve) => {
    const interval = setAlignedInterval(() => {
      if (++calls < 3) return;
      interval.stop();
      resolve();
    }, 5);
  });
  await sleep(20);
  expect(calls).toBe(3);
});
