/** Deletes expired rows in batches, so that no statement takes long or blocks others. */
import type { Pool } from 'pg';
import { type Sql, transaction } from './transaction';

const ROWS_AT_ONCE = 5_000;

/**
 * Skips locked rows.
 * @param where a condition on the table's columns
 * @param options.before done in each transaction
 * @returns the number of deleted rows
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
