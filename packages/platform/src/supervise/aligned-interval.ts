/**
 * Calls back at multiples of `everyMs` since the process has started: those of several intervals share one wake-up, which
 * costs an idle process more than what it does then.
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
