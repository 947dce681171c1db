import type { Logger } from 'pino';

export type Repeated = ReturnType<typeof repeat>;

/**
 * Does `work` again and again, never twice at once: the pause of `everyMs` begins when it has ended, and comes before the
 * first time too. What it throws is logged, and tried again after the next pause.
 * @param options.what is repeated, for the log
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
    /** Begins nothing any more, and waits for what is under way. */
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
