/**
 * Calls back at multiples of `everyMs` since the process started, so that several intervals share one wake-up. In an idle
 * process, a wake-up costs more than the work.
 */
export function setAlignedInterval(callback: () => void, everyMs: number): { stop(): void } {
  let timer: NodeJS.Timeout;

  function schedule() {
    // A timer may fire a millisecond early.
    timer = setTimeout(run, everyMs - (performance.now() % everyMs) + 1);
  }

  function run() {
    schedule();
    callback();
  }

  schedule();
  return { stop: () => clearTimeout(timer) };
}
