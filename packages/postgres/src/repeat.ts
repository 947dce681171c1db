import type { Logger } from 'pino';

export type RepeatingTask = ReturnType<typeof startRepeatingTask>;

/**
 * Repeats `work` without overlap: the pause of `everyMs` starts when a run has ended, and also precedes the first run.
 * An error is logged, and the work retried after the next pause.
 * @param options.what name of the work, for the log
 */
export function startRepeatingTask(options: {
  everyMs: number;
  work: () => Promise<unknown>;
  what: string;
  log: Pick<Logger, 'warn'>;
}) {
  const { everyMs, work, what, log } = options;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function runOnce() {
    try {
      await work();
    } catch (err) {
      log.warn({ err }, `${what}: will try again`);
    }
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
