/** `last_used_at`, written behind the requests: gathered, at most once a minute for each key, one statement for all. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export interface KeyUse {
  note(keyId: string, lastUsedAt: Date | null): void;
  /** Writes what is gathered. */
  flush(): Promise<void>;
}

const RESOLUTION_MS = 60_000;
const FLUSH_MS = 1_000;

export function trackKeyUse({ pool, log }: { pool: Pool; log: Logger }): KeyUse {
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
        `UPDATE api_keys SET last_used_at = greatest(last_used_at, u.at)
         FROM unnest($1::text[], $2::timestamptz[]) AS u(id, at) WHERE api_keys.id = u.id`,
        [[...batch.keys()], [...batch.values()].map((at) => new Date(at))],
      )
      .catch((err) => log.warn({ err }, 'last use of API keys not written'));
  }

  return {
    note: (keyId, lastUsedAt) => {
      const now = Date.now();
      if (lastUsedAt && now - lastUsedAt.getTime() < RESOLUTION_MS) return;
      used.set(keyId, now);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
