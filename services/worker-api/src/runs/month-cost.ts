/** Counts a worker's usage by day and cost by month, once for each run, when it ends. */

import { conflict } from '@gantry/errors';
import type { EventHandlerFor, runFinished } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { buildTestCostSql } from '@gantry/run-engine';
import type { Definition } from '../workers/definition';
import { buildWorkerExistsSql } from '../workers/worker-queries';
import type { RunDeps } from './run-deps';

/** Returns US dollars; 0 before the first run of the month (UTC) has ended. */
export async function loadMonthlyCostUsd(
  sql: Sql,
  { uid, workspaceId }: { uid: string; workspaceId: string },
  at: Date,
): Promise<number> {
  const { rows } = await sql.query(
    `SELECT coalesce((SELECT usd FROM worker_month_costs WHERE worker_uid = $1 AND month = $2::date), 0) + ${TEST_COSTS} + ${REPAIR_COSTS} AS usd`,
    [uid, formatMonth(at), workspaceId],
  );
  return rows[0].usd;
}

/**
 * Checks the cost of runs that have ended; running ones are not known, so a month may end a little above its budget.
 * @throws AppError 409 budget_exceeded
 */
export async function requireMonthlyBudget(
  { now }: Pick<RunDeps, 'now'>,
  sql: Sql,
  worker: { uid: string; workspaceId: string },
  { limits }: Definition,
): Promise<void> {
  const budget = limits.budget_usd_per_month;
  if (budget === null) return;
  const spent = await loadMonthlyCostUsd(sql, worker, now());
  if (spent < budget) return;
  throw conflict(
    'budget_exceeded',
    `this month's runs have cost ${spent.toFixed(4)} USD, and the worker's budget is ${budget} USD; raise the budget, or wait until the first of next month (UTC)`,
  );
}

/** Their ends raise no event that would be counted; they are few. */
const TEST_COSTS = buildTestCostSql('$3', '$1', "$2::date AT TIME ZONE 'UTC'");

/** Costs of models that repairs called, including reservations of running calls. */
const REPAIR_COSTS = `coalesce((SELECT sum(CASE c.outcome WHEN 'started' THEN c.reserved_usd ELSE c.usd END)
  FROM repairs p JOIN model_calls c ON c.turn_id = p.id
  WHERE p.worker_uid = $1 AND c.started_at >= $2::date AT TIME ZONE 'UTC'), 0)`;

/** Updates both counts in one statement, so that a run is in both or in neither. */
const COUNT_RUN = `WITH of_day AS (
    INSERT INTO worker_day_usage AS known (worker_uid, day, runs, failed, compute_ms, usd)
    SELECT $1, $2::date, 1, $3, $4, $5 WHERE ${buildWorkerExistsSql('$1')}
    ON CONFLICT (worker_uid, day) DO UPDATE SET runs = known.runs + 1, failed = known.failed + excluded.failed,
      compute_ms = known.compute_ms + excluded.compute_ms, usd = known.usd + excluded.usd
  )
  INSERT INTO worker_month_costs AS known (worker_uid, month, usd)
  SELECT $1, date_trunc('month', $2::date), $5 WHERE ${buildWorkerExistsSql('$1')}
  ON CONFLICT (worker_uid, month) DO UPDATE SET usd = known.usd + excluded.usd`;

/** Counts a run once, when it has ended; a run of a purged worker is not counted. */
export const countRun: EventHandlerFor<typeof runFinished> = {
  // The name from when only costs were counted: under a new name, runs would count twice.
  name: 'run-cost',
  wants: ({ source }) => source === 'worker',
  handle: async (tx, { data }) => {
    const { subjectId, status, finishedAt, cpuMs, costUsd } = data;
    const failed = status === 'failed' || status === 'timed_out' ? 1 : 0;
    await tx.query(COUNT_RUN, [subjectId, formatDay(new Date(finishedAt)), failed, cpuMs ?? 0, costUsd ?? 0]);
  },
};

/** A day of UTC as YYYY-MM-DD. */
export const formatDay = (at: Date): string => at.toISOString().slice(0, 10);

const formatMonth = (at: Date): string => `${at.toISOString().slice(0, 7)}-01`;
