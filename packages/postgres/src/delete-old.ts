/** Rows whose time is over, so many in a statement: none takes long, and nobody waits for it. */
import type { Pool } from 'pg';
import { type Sql, transaction } from './transaction';

const ROWS_AT_ONCE = 5_000;

/**
 * Leaves out rows that somebody else holds.
 * @param where a condition on the table's columns
 * @param options.before done in each transaction
 * @returns how many
 */
export async function deleteOld(
  pool: Pool,
  table: string,
  where: string,
  options: { values?: unknown[]; before?: (tx: Sql) => Promise<unknown> } = {},
): Promise<number> {
  const some = `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE ${where} LIMIT ${ROWS_AT_ONCE} FOR UPDATE SKIP LOCKED))`;
  for (let deleted = 0; ; ) {
    const { rowCount } = await transaction(pool, async (tx) => {
      await options.before?.(tx);
      return tx.query(some, options.values);
    });
    deleted += rowCount ?? 0;
    if (rowCount !== ROWS_AT_ONCE) return deleted;
  }
}
