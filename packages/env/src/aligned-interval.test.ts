import { setTimeout as sleep } from 'node:timers/promises';
import { getAlignedDelay, setAlignedInterval } from './aligned-interval';

const EVERY_MS = 40;
/** Milliseconds on the clock of the machine. */
const now = () => Number(process.hrtime.bigint()) / 1e6;

test('delays from any time lead to the same multiple', async () => {
  const dueAt = [now() + getAlignedDelay(EVERY_MS)];
  await sleep(15);
  dueAt.push(now() + getAlignedDelay(EVERY_MS));
  for (const at of dueAt) {
    // The delay is a millisecond longer; two readings of the clock lie between.
    const pastMs = at % EVERY_MS;
    expect(pastMs).toBeGreaterThan(0.9);
    expect(pastMs).toBeLessThan(5);
  }
});

test('a delay is never longer than the interval', () => {
  for (const everyMs of [1, 7, 5_000]) {
    const delayMs = getAlignedDelay(everyMs);
    expect(delayMs).toBeGreaterThan(1);
    expect(delayMs).toBeLessThanOrEqual(everyMs + 1);
  }
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
