/** For services whose transactions touch a run and rows of their own. */
import type { Sql } from '@gantry/postgres';

/** Before anything else of a transaction that touches a run and what belongs to it. */
export async function lockRun(tx: Sql, runId: string): Promise<void> {
  await tx.query('SELECT FROM runs WHERE id = $1 FOR UPDATE', [runId]);
}

/** @returns false where somebody else has the run's row at this moment */
export async function tryLockRun(tx: Sql, runId: string): Promise<boolean> {
  const { rowCount } = await tx.query('SELECT FROM runs WHERE id = $1 FOR UPDATE SKIP LOCKED', [runId]);
  return Boolean(rowCount);
}

/** How many runs started one another up to this one; 0 for one that is not there any more. */
export async function depthOf(sql: Sql, runId: string): Promise<number> {
  const { rows } = await sql.query('SELECT depth FROM runs WHERE id = $1', [runId]);
  return rows[0]?.depth ?? 0;
}
