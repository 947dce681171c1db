import type { Logger } from 'pino';

export type RepeatingTask = ReturnType<typeof startRepeatingTask>;

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
 * Repeats `work` without overlap: the pause of `everyMs` starts when a run has ended, and also precedes the first run.
 * An error is logged, and the work retried after the next pause.
 */
export function startRepeatingTask({ everyMs, ...work }: TaskOptions & { everyMs: number }) {
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function runOnce() {
    await runAndLogError(work);
    schedule();
  }

  function schedule() {
    if (stopped) return;
    timer = setTimeout(() => {
      running = runOnce();
    }, everyMs);
  }

  schedule();
  return {
    /** Starts no further run, and waits for the current one. */
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
