/** Deletes expired rows in batches, so that no statement takes long or blocks others. */
import type { Pool } from 'pg';
import { type Sql, transaction } from './transaction';

const ROW_BATCH = 5_000;

/**
 * Skips locked rows.
 * @param where a condition on the table's columns
 * @param options.before done in each transaction
 * @returns the number of deleted rows
 */
export async function deleteOldRows(
  pool: Pool,
  table: string,
  where: string,
  options: { values?: unknown[]; before?: (tx: Sql) => Promise<unknown> } = {},
): Promise<number> {
  const deleteBatch = `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM ${table} WHERE ${where} LIMIT ${ROW_BATCH} FOR UPDATE SKIP LOCKED))`;
  for (let deleted = 0; ; ) {
    const { rowCount } = await transaction(pool, async (tx) => {
      await options.before?.(tx);
      return tx.query(deleteBatch, options.values);
    });
    deleted += rowCount ?? 0;
    if (rowCount !== ROW_BATCH) return deleted;
  }
}
