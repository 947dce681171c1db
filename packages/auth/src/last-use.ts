/** `last_used_at`, written asynchronously: batched, at most once a minute per credential, in one statement. */
import { createWriteBehind } from '@gantry/postgres';
import type { Logger } from 'pino';

/** Tables with the credentials of a service: `id`, `last_used_at`. */
export type CredentialTable = 'tokens' | 'api_keys';

export type LastUse = ReturnType<typeof createLastUseTracker>;

interface LastUseOptions {
  pool: { query(sql: string, values: unknown[]): Promise<unknown> };
  table: CredentialTable;
  log: Logger;
}

const RESOLUTION_MS = 60_000;

export function createLastUseTracker({ pool, table, log }: LastUseOptions) {
  const used = createWriteBehind<Date>({
    write: (ids, dates) =>
      pool.query(
        `UPDATE ${table} SET last_used_at = greatest(last_used_at, u.at)
         FROM unnest($1::text[], $2::timestamptz[]) AS u(id, at) WHERE ${table}.id = u.id`,
        [ids, dates],
      ),
    what: `last-used times in ${table}`,
    log,
  });
  return {
    note: (id: string, lastUsedAt: Date | null) => {
      const now = new Date();
      if (!lastUsedAt || now.getTime() - lastUsedAt.getTime() >= RESOLUTION_MS) used.note(id, () => now);
    },
    /** Writes the pending batch. */
    flush: used.flush,
  };
}
