/**
 * Sums what the runs of a workspace's workers used in a month. It reads a row for each worker and day, which are kept
 * while runs end, and so costs the same however many runs there were.
 */
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import { buildBudgetSql, toVisibilityValues } from '../workers/worker-queries';
import { formatDay } from './month-cost';

/** The dearest are listed; the rest are added up. */
const WORKERS_MAX = 500;
const DAY_MS = 86_400_000;

interface UsageSums {
  runs: number;
  failed: number;
  computeMs: number;
  usd: number;
}

interface WorkerRow extends UsageSums {
  id: string;
  name: string;
  isDeleted: boolean;
  isVisible: boolean;
  budget: number | null;
}

interface UsageRow {
  days: (UsageSums & { day: string })[];
  workers: WorkerRow[];
}

const SUMS = `coalesce(sum(u.runs), 0)::int AS runs, coalesce(sum(u.failed), 0)::int AS failed,
  coalesce(sum(u.compute_ms), 0) AS "computeMs", coalesce(sum(u.usd), 0) AS usd`;

const DAYS = `SELECT to_char(u.day, 'YYYY-MM-DD') AS day, ${SUMS}
  FROM workers w JOIN worker_day_usage u ON u.worker_uid = w.uid
  WHERE w.workspace_id = $1 AND u.day >= $2::date AND u.day < $3::date
  GROUP BY u.day`;

/**
 * Workers that had runs, and those whose budget nothing was taken from. $4: whose private workers show; $5:
 * everybody's do.
 */
const WORKERS = `SELECT w.id, w.name, w.deleted_at IS NOT NULL AS "isDeleted",
    w.visibility = 'workspace' OR w.owner_id = $4 OR $5 AS "isVisible",
    ${buildBudgetSql('v')} AS budget, ${SUMS}
  FROM workers w
  JOIN worker_versions v ON v.worker_uid = w.uid AND v.number = w.current_version
  LEFT JOIN worker_day_usage u ON u.worker_uid = w.uid AND u.day >= $2::date AND u.day < $3::date
  WHERE w.workspace_id = $1
  GROUP BY w.uid, v.worker_uid, v.number
  HAVING count(u.day) > 0 OR (w.deleted_at IS NULL AND ${buildBudgetSql('v')} IS NOT NULL)
  ORDER BY usd DESC, runs DESC, w.name, w.uid`;

/** One statement, so that both lists count the same runs. */
const USAGE = `SELECT
  (SELECT coalesce(json_agg(days), '[]') FROM (${DAYS}) AS days) AS days,
  (SELECT coalesce(json_agg(workers), '[]') FROM (${WORKERS}) AS workers) AS workers`;

/** Sums all workers of a workspace by day of UTC; days without runs are left out. */
export async function loadUsageByDay(sql: Sql, workspaceId: string, from: string): Promise<UsageRow['days']> {
  return (await sql.query<UsageRow['days'][number]>(DAYS, [workspaceId, from, 'infinity'])).rows;
}

/** @param month `2026-11`; default: the present one (UTC) */
export async function loadUsage(sql: Sql, caller: Principal, month: string | undefined, now: Date) {
  const first = new Date(`${month ?? now.toISOString().slice(0, 7)}-01T00:00:00.000Z`);
  const end = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1));
  const [workspaceId, ...sight] = toVisibilityValues(caller);
  const { rows } = await sql.query<UsageRow>(USAGE, [workspaceId, formatDay(first), formatDay(end), ...sight]);
  const { days, workers } = rows[0] as UsageRow;
  const byDay = new Map(days.map((row) => [row.day, row]));
  const listed = workers.filter(({ isVisible }) => isVisible).slice(0, WORKERS_MAX);
  const isListed = new Set(listed);
  const others = workers.filter((row) => !isListed.has(row) && row.runs > 0);
  return {
    month: formatDay(first).slice(0, 7),
    total: usageToApi(sumUsage(days)),
    days: listDaysBetween(first, Math.min(end.getTime(), now.getTime() + 1)).map((day) => ({
      day,
      ...usageToApi(byDay.get(day) ?? ZERO_USAGE),
    })),
    workers: listed.map(({ id, name, isDeleted, budget, ...used }) => ({
      id,
      name,
      deleted: isDeleted,
      budget_usd: budget,
      ...usageToApi(used),
    })),
    others: { workers: others.length, ...usageToApi(sumUsage(others)) },
  };
}

const ZERO_USAGE: UsageSums = { runs: 0, failed: 0, computeMs: 0, usd: 0 };

const usageToApi = ({ runs, failed, computeMs, usd }: UsageSums) => ({
  runs,
  failed,
  compute_ms: Math.round(computeMs),
  cost_usd: usd,
});

const sumUsage = (rows: UsageSums[]): UsageSums =>
  rows.reduce(
    (sum, { runs, failed, computeMs, usd }) => ({
      runs: sum.runs + runs,
      failed: sum.failed + failed,
      computeMs: sum.computeMs + computeMs,
      usd: sum.usd + usd,
    }),
    ZERO_USAGE,
  );

function listDaysBetween(first: Date, endMs: number): string[] {
  const count = Math.max(0, Math.ceil((endMs - first.getTime()) / DAY_MS));
  return Array.from({ length: count }, (_, index) => formatDay(new Date(first.getTime() + index * DAY_MS)));
}
