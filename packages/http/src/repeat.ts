import type { Logger } from 'pino';

export type Repeated = ReturnType<typeof repeat>;

/**
 * Repeats `work` without overlap: the pause of `everyMs` starts when a run has ended, and also precedes the first run.
 * An error is logged, and the work retried after the next pause.
 * @param options.what name of the work, for the log
 */
export function repeat(options: {
  everyMs: number;
  work: () => Promise<unknown>;
  what: string;
  log: Pick<Logger, 'warn'>;
}) {
  const { everyMs, work, what, log } = options;
  let underWay: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function once() {
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
      underWay = once();
    }, everyMs);
  }

  schedule();
  return {
    /** Starts no further run, and waits for the current one. */
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
