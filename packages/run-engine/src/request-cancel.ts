import type { Execute } from '@gantry/events';
import type { Pool } from 'pg';

/** What else commits with the first request to cancel a run, such as an entry for the audit log. */
export type Alongside = (execute: Execute) => Promise<void>;

/** Asks for the end of a run; asking again changes nothing. @returns where the run is, undefined when it has ended */
export async function requestCancel(
  pool: Pool,
  runId: string,
  alongside?: Alongside,
): Promise<'queued' | 'running' | undefined> {
  const client = await pool.connect();
  let failed: Error | undefined;
  try {
    await client.query('BEGIN');
    const { rows } = await client.query(
      `SELECT status, cancel_requested_at FROM runs WHERE id = $1 AND status IN ('queued', 'running') FOR UPDATE`,
      [runId],
    );
    if (rows[0]?.cancel_requested_at === null) {
      await client.query('UPDATE runs SET cancel_requested_at = now() WHERE id = $1', [runId]);
      await alongside?.((sql, values) => client.query(sql, values));
    }
    await client.query('COMMIT');
    return rows[0]?.status;
  } catch (err) {
    failed = err as Error;
    await client.query('ROLLBACK').catch(() => {});
    throw err;
  } finally {
    client.release(failed);
  }
}
