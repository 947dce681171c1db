/** The incarnation of its stream of run events that a service reads. */
import type { StreamState } from '@gantry/events';
import type { Pool } from 'pg';

/**
 * Notes the stream. If it is not the one that was read last, or `isCut`, reports may be lost: every run that an executor
 * holds then counts as begun, in the same statement.
 * @returns true in that case
 */
export async function streamChanged(pool: Pool, stream: StreamState, isCut: boolean): Promise<boolean> {
  const { rows } = await pool.query<{ changed: boolean }>(
    `WITH before AS (
       SELECT created_at FROM run_streams WHERE name = $1
     ), noted AS (
       INSERT INTO run_streams (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET created_at = $2
     ), change AS (
       SELECT $3 OR EXISTS (SELECT FROM before WHERE created_at <> $2) AS changed
     ), begun AS (
       UPDATE runs SET confirmed = true
       WHERE status = 'running' AND NOT confirmed AND (SELECT changed FROM change)
     )
     SELECT changed FROM change`,
    [stream.name, stream.created, isCut],
  );
  return rows[0]?.changed ?? false;
}
