/**
 * Maintains the partitions of run_events, one per week of the runs' creation.
 *
 * The default partition has the events of runs without a weekly partition: test runs, whose ids begin differently, runs
 * that continue after their week was dropped, and runs from before the first week.
 */
import { disableTimeLimits, type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';

const WEEK_S = 604_800;
/** Partitions created in advance, so that late sweeps do no harm. */
const WEEKS_AHEAD = 3;
const WEEKS_LOCK = 'gantry: weeks of run events';

const getWeekStart = (at: Date): number => Math.floor(at.getTime() / 1_000 / WEEK_S) * WEEK_S;
/** Returns the start of the week of a time. */
export const toWeekStartDate = (at: Date): Date => new Date(getWeekStart(at) * 1_000);
const buildPartitionName = (start: number): string =>
  `run_events_${new Date(start * 1_000).toISOString().slice(0, 10).replaceAll('-', '')}`;
/** Ids begin with the second, in ten digits: see newRunId. */
const buildRunIdBound = (start: number): string => `run_${String(start).padStart(10, '0')}`;

interface Week {
  name: string;
  start: number;
}

async function listWeeks(sql: Sql): Promise<Week[]> {
  const { rows } = await sql.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'run_events'::regclass AND c.relname ~ '^run_events_\\d{8}$' ORDER BY 1`,
  );
  return rows.map(({ name }) => ({
    name,
    start: Date.parse(name.slice(-8).replace(/(....)(..)/, '$1-$2-')) / 1_000,
  }));
}

const LOCK_TIMEOUT = 'SET LOCAL lock_timeout = 1000';

/**
 * Creates the partitions of the next weeks before any of their runs. The default partition, which may be very large
 * after an upgrade, is scanned without blocking writers: with a validated constraint, attaching a week scans nothing.
 */
export async function createWeeks(pool: Pool, now: Date): Promise<void> {
  const next = getWeekStart(now) + WEEK_S;
  const requiredStarts = Array.from({ length: WEEKS_AHEAD }, (_, index) => next + index * WEEK_S);
  await transaction(pool, async (lock) => {
    const { rows } = await lock.query('SELECT pg_try_advisory_xact_lock(hashtext($1)) AS "isOurs"', [WEEKS_LOCK]);
    const existing = new Set((await listWeeks(pool)).map(({ start }) => start));
    const missing = requiredStarts.filter((start) => !existing.has(start));
    if (rows[0].isOurs && missing.length) await attachWeeks(pool, missing);
  });
}

const NOT_IN_DEFAULT = 'run_events_default_not_ahead';

async function attachWeeks(pool: Pool, starts: number[]): Promise<void> {
  const [from, to] = [buildRunIdBound(starts[0] as number), buildRunIdBound((starts.at(-1) as number) + WEEK_S)];
  await transaction(pool, async (tx) => {
    await tx.query(LOCK_TIMEOUT);
    for (const start of starts) {
      await tx.query(`CREATE TABLE IF NOT EXISTS ${buildPartitionName(start)} (LIKE run_events INCLUDING ALL)`);
      await tx.query(
        `WITH moved AS (DELETE FROM run_events_default WHERE run_id >= $1 AND run_id < $2 RETURNING *)
         INSERT INTO ${buildPartitionName(start)} SELECT * FROM moved`,
        [buildRunIdBound(start), buildRunIdBound(start + WEEK_S)],
      );
    }
    await tx.query(`ALTER TABLE run_events_default DROP CONSTRAINT IF EXISTS ${NOT_IN_DEFAULT},
      ADD CONSTRAINT ${NOT_IN_DEFAULT} CHECK (run_id < '${from}' OR run_id >= '${to}') NOT VALID`);
  });
  await transaction(pool, async (tx) => {
    await disableTimeLimits(tx);
    await tx.query(`ALTER TABLE run_events_default VALIDATE CONSTRAINT ${NOT_IN_DEFAULT}`);
  });
  await transaction(pool, async (tx) => {
    await tx.query(LOCK_TIMEOUT);
    for (const start of starts) {
      const range = `FROM ('${buildRunIdBound(start)}') TO ('${buildRunIdBound(start + WEEK_S)}')`;
      await tx.query(`ALTER TABLE run_events ATTACH PARTITION ${buildPartitionName(start)} FOR VALUES ${range}`);
    }
    await tx.query(`ALTER TABLE run_events_default DROP CONSTRAINT ${NOT_IN_DEFAULT}`);
  });
}

/** Drops weeks that ended before. Waiting for readers blocks writers, so the lock timeout is one second. */
export async function dropWeeks(pool: Pool, before: Date): Promise<void> {
  const expired = (await listWeeks(pool)).filter(({ start }) => (start + WEEK_S) * 1_000 <= before.getTime());
  for (const { name } of expired) {
    await transaction(pool, async (tx) => {
      await tx.query(LOCK_TIMEOUT);
      await tx.query(`DROP TABLE IF EXISTS ${name}`);
    });
  }
}
