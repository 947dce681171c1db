/**
 * Measures for how long work keeps the event loop of this process: the processor time of the longest turn, which other programs of a
 * busy machine do not change, in milliseconds of a machine on which a control takes as long as it should.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { threadCpuMs } from './thread-cpu';

const TRIES = 5;
/** Processor time that parsing the control takes on the machine that bounds are meant for. */
const CONTROL_MS = 20;
const CONTROL = JSON.stringify(Array.from({ length: 60_000 }, (_, at) => ({ at, text: `item ${at}` })));

/**
 * @param most a longer turn is looked at again: garbage of earlier work may be collected in one, but not each time
 * @returns null where this system does not tell processor times of threads
 */
export async function measureLongestTurn(work: () => unknown, most: number): Promise<number | null> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && shortest > most; tried++) {
    const control = await longestTurn(() => JSON.parse(CONTROL));
    const measured = await longestTurn(work);
    if (!Number.isFinite(measured)) return null;
    shortest = Math.min(shortest, measured / Math.max(1, control / CONTROL_MS));
  }
  return shortest;
}

async function longestTurn(work: () => unknown): Promise<number> {
  await nextTurn();
  let longest = 0;
  let before = threadCpuMs();
  const sample = () => {
    const now = threadCpuMs();
    longest = Math.max(longest, now - before);
    before = now;
    timer = setImmediate(sample);
  };
  let timer = setImmediate(sample);
  try {
    await work();
    await nextTurn();
  } finally {
    clearImmediate(timer);
  }
  return longest;
}
