/**
 * Timers at multiples of their interval, on the clock that all processes of a machine share: what is due at the same time
 * shares a wake-up. In an idle process, a wake-up costs more than the work.
 */

/** Returns the time until the next multiple of `everyMs`, in milliseconds. */
export function getAlignedDelay(everyMs: number): number {
  const [seconds, nanoseconds] = process.hrtime();
  // A timer may fire a millisecond early.
  return everyMs - ((seconds * 1e3 + nanoseconds / 1e6) % everyMs) + 1;
}

/** Calls back at multiples of `everyMs`. */
export function setAlignedInterval(callback: () => void, everyMs: number): { stop(): void } {
  let timer: NodeJS.Timeout;

  function schedule() {
    timer = setTimeout(run, getAlignedDelay(everyMs));
  }

  function run() {
    schedule();
    callback();
  }

  schedule();
  return { stop: () => clearTimeout(timer) };
}
