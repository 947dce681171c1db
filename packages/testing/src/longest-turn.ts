/**
 * Measures for how long work keeps the event loop of this process: the processor time of the longest turn, which other
 * programs of a busy machine do not change, in milliseconds of a machine on which a control takes as long as it should.
 * Garbage collections are left out: how long one takes is decided by all that the process holds, which is much after a
 * hundred suites.
 */
import { AsyncResource, createHook, executionAsyncResource } from 'node:async_hooks';
import { type PerformanceEntry, PerformanceObserver, performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readThreadCpuMs } from './thread-cpu';

const TRIES = 5;
/** Processor time that parsing the control takes on the machine that bounds are meant for. */
const CALIBRATION_MS = 20;
const CALIBRATION_JSON = JSON.stringify(Array.from({ length: 60_000 }, (_, at) => ({ at, text: `item ${at}` })));

/**
 * @param maxMs a longer turn is looked at again
 * @returns null where this system does not tell processor times of threads
 */
export async function measureLongestTurn(work: () => unknown, maxMs: number): Promise<number | null> {
  if (!Number.isFinite(readThreadCpuMs())) return null;
  let shortest = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && shortest > maxMs; tried++) {
    const slowness = await measureSlowness();
    shortest = Math.min(shortest, (await measureLongestTurnMs(work)) / slowness);
  }
  return shortest;
}

/**
 * Measures the slowness of the machine: the control's time relative to the machine that bounds are meant for; at least
 * 1.
 */
export const measureSlowness = async (): Promise<number> =>
  Math.max(1, (await measureLongestTurnMs(() => JSON.parse(CALIBRATION_JSON))) / CALIBRATION_MS);

interface Turn {
  /** Times of `performance.now()`. */
  from: number;
  to: number;
  cpuMs: number;
}

/**
 * A turn is one callback of the event loop with the ticks and promises that it starts. How many callbacks are ready at
 * once is decided by the load of the machine.
 */
async function measureLongestTurnMs(work: () => unknown): Promise<number> {
  const collections: Pick<PerformanceEntry, 'startTime' | 'duration'>[] = [];
  const observer = new PerformanceObserver((seen) => void collections.push(...seen.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  await nextTurn();
  const turns: Turn[] = [];
  let [before, from] = [readThreadCpuMs(), performance.now()];
  const recordTurn = () => {
    const [now, to] = [readThreadCpuMs(), performance.now()];
    turns.push({ from, to, cpuMs: now - before });
    [before, from] = [now, to];
  };
  let depth = 0;
  const hook = createHook({
    before: () => {
      if (depth++ === 0 && !isContinuation(executionAsyncResource())) recordTurn();
    },
    after: () => {
      // That of the callback which enabled this hook was not counted.
      depth = Math.max(0, depth - 1);
    },
  });
  try {
    hook.enable();
    await work();
  } finally {
    hook.disable();
    recordTurn();
    collections.push(...observer.takeRecords());
    observer.disconnect();
  }
  const getGcMs = ({ from, to }: Turn) =>
    collections
      .map(({ startTime, duration }) => Math.min(to, startTime + duration) - Math.max(from, startTime))
      .reduce((sum, overlap) => sum + Math.max(0, overlap), 0);
  return turns.reduce((longest, turn) => {
    // Most turns are short, and need no look at all collections.
    return turn.cpuMs > longest ? Math.max(longest, turn.cpuMs - getGcMs(turn)) : longest;
  }, 0);
}

/** Returns whether it is a promise, a microtask or a tick, which run before the event loop goes on. */
const isContinuation = (resource: object): boolean =>
  resource instanceof Promise || resource instanceof AsyncResource || ('callback' in resource && 'args' in resource);
