import type { Pool } from 'pg';
import { startWorkLoop } from './work-loop';

const warn = jest.fn();

/** A loop over items that wait, without polls. */
function createLoop(waiting: string[], work: (item: string, signal: AbortSignal) => Promise<void>) {
  const advance = jest.fn(async () => {});
  const loop = startWorkLoop({
    pool: {} as Pool,
    log: { warn },
    what: 'trials',
    dueAt: 'now()',
    auto: false,
    capacity: 2,
    advance,
    claim: async (limit) => waiting.splice(0, limit),
    work,
  });
  return { loop, advance };
}

test('items beyond the capacity are claimed once others have ended', async () => {
  let inFlight = 0;
  const mostInFlight: number[] = [];
  const { loop } = createLoop(['a', 'b', 'c', 'd', 'e'], async () => {
    mostInFlight.push(++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
  });
  await loop.tick();
  await loop.waitUntilIdle();
  expect(mostInFlight).toHaveLength(5);
  expect(Math.max(...mostInFlight)).toBe(2);
});

test('a failed round is logged, and the next one works', async () => {
  const done: string[] = [];
  const { loop, advance } = createLoop(['a'], async (item) => void done.push(item));
  advance.mockRejectedValueOnce(new Error('the database is away'));
  await loop.tick();
  expect(warn.mock.lastCall?.[1]).toBe('trials: will try again');
  await loop.tick();
  await loop.waitUntilIdle();
  expect(done).toEqual(['a']);
});

test('stopping aborts what is worked on, waits for it, and claims nothing more', async () => {
  const waiting = ['a', 'b', 'c'];
  const aborted: string[] = [];
  const { loop } = createLoop(waiting, async (item, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    aborted.push(item);
  });
  await loop.tick();
  await loop.stop();
  await loop.tick();
  expect({ aborted, waiting }).toEqual({ aborted: ['a', 'b'], waiting: ['c'] });
});
