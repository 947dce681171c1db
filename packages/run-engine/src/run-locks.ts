/** Locks runs for services whose transactions change a run and their own rows. */
import { hasRow, type Sql } from '@gantry/postgres';

/** Must be the first statement of a transaction that changes a run and related rows. */
export async function lockRun(tx: Sql, runId: string): Promise<void> {
  await tx.query('SELECT FROM runs WHERE id = $1 FOR UPDATE', [runId]);
}

/** @returns false if another transaction holds the run's row */
export const tryLockRun = (tx: Sql, runId: string): Promise<boolean> =>
  hasRow(tx, 'SELECT FROM runs WHERE id = $1 FOR UPDATE SKIP LOCKED', [runId]);

/** Returns the length of the chain of runs that started this one; 0 if it was deleted. */
export async function getRunDepth(sql: Sql, runId: string): Promise<number> {
  const { rows } = await sql.query('SELECT depth FROM runs WHERE id = $1', [runId]);
  return rows[0]?.depth ?? 0;
}
