import type { Logger } from 'pino';

const FLUSH_MS = 1_000;

/**
 * Batches values that requests note by key, and writes them in one statement a second later. A crash loses that second,
 * and so does a failed statement.
 * @param options.what the subject of the log line about a failed statement
 */
export function createWriteBehind<Value>(options: {
  write: (keys: string[], values: Value[]) => Promise<unknown>;
  what: string;
  log: Pick<Logger, 'warn'>;
}) {
  const { write, what, log } = options;
  let pending = new Map<string, Value>();
  let timer: NodeJS.Timeout | undefined;

  /** Writes everything noted so far. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = pending;
    pending = new Map();
    if (!batch.size) return;
    await write([...batch.keys()], [...batch.values()]).catch((err) => log.warn({ err }, `${what} not written`));
  }

  return {
    /** @param change derives the value from the one noted under that key in this batch */
    note: (key: string, change: (pending: Value | undefined) => Value) => {
      pending.set(key, change(pending.get(key)));
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
