import { getAlignedDelay } from '@gantry/env';
import type { Logger } from 'pino';

export interface RepeatingTask {
  /** Starts no further run, and waits for the current one. */
  stop(): Promise<void>;
}

export interface TaskOptions {
  work: () => unknown;
  /** Name of the work, for the log. */
  what: string;
  log: Pick<Logger, 'warn'>;
}

/** Runs work that will be repeated: an error is logged. */
export async function runAndLogError({ work, what, log }: TaskOptions): Promise<void> {
  try {
    await work();
  } catch (err) {
    log.warn({ err }, `${what}: will try again`);
  }
}

/**
 * Repeats `work` without overlap, at multiples of `everyMs`.
 * An error is logged, and the work retried the next time.
 * @param options.everyMs a function is asked before each pause
 */
export function startRepeatingTask({ everyMs, ...work }: TaskOptions & { everyMs: number | (() => number) }) {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function runOnce() {
    if (stopped) return;
    await runAndLogError(work);
    // It may have been woken meanwhile.
    if (!timer) pause();
  }

  function pause(ms = getAlignedDelay(typeof everyMs === 'function' ? everyMs() : everyMs)) {
    if (stopped) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      running = running.then(runOnce);
    }, ms);
  }

  pause();
  return {
    /** Ends the pause; work in progress is repeated afterwards. */
    wake: () => pause(0),
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
