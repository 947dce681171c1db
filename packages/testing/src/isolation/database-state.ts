import type { Pool } from 'pg';

/**
 * Bookkeeping of the platform itself, which a refused request or the clock may move: budgets, keys, positions in
 * streams.
 */
const BOOKKEEPING =
  /^(outbox|published_events|inbox|run_streams|idempotency_keys|rate_counts|audit_.*|_prisma_migrations)$/;
const LAST_USE = "'last_used_at'";

/** Count and checksum of every table, by name. */
export type DatabaseState = Record<string, string>;

export async function readDatabaseState(pool: Pool): Promise<DatabaseState> {
  const { rows: tables } = await pool.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  );
  const counted = tables.filter(({ name }) => !BOOKKEEPING.test(name));
  const { rows } = await pool.query<{ name: string; state: string }>(
    counted
      .map(
        ({ name }) => `SELECT '${name}' AS name, count(*) || ':' ||
          coalesce(sum(hashtextextended((to_jsonb(t) - ${LAST_USE})::text, 0)), 0) AS state FROM "${name}" t`,
      )
      .join(' UNION ALL '),
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

export function listChangedTables(before: DatabaseState, after: DatabaseState): string[] {
  return Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);
}
