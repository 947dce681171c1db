/** `last_used_at`, written asynchronously: batched, at most once a minute per credential, in one statement. */
import type { Logger } from 'pino';

/** Tables with the credentials of a service: `id`, `last_used_at`. */
export type CredentialTable = 'tokens' | 'api_keys';

export interface LastUse {
  note(id: string, lastUsedAt: Date | null): void;
  /** Writes the pending batch. */
  flush(): Promise<void>;
}

interface LastUseOptions {
  pool: { query(sql: string, values: unknown[]): Promise<unknown> };
  table: CredentialTable;
  log: Logger;
}

const RESOLUTION_MS = 60_000;
const FLUSH_MS = 1_000;

export function trackLastUse({ pool, table, log }: LastUseOptions): LastUse {
  let used = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  async function flush() {
    clearTimeout(timer);
    timer = undefined;
    const batch = used;
    used = new Map();
    if (!batch.size) return;
    await pool
      .query(
        `UPDATE ${table} SET last_used_at = greatest(last_used_at, u.at)
         FROM unnest($1::text[], $2::timestamptz[]) AS u(id, at) WHERE ${table}.id = u.id`,
        [[...batch.keys()], [...batch.values()].map((at) => new Date(at))],
      )
      .catch((err) => log.warn({ err, table }, 'last use of credentials not written'));
  }

  return {
    note: (id, lastUsedAt) => {
      const now = Date.now();
      if (lastUsedAt && now - lastUsedAt.getTime() < RESOLUTION_MS) return;
      used.set(id, now);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
