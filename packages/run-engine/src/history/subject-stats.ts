/**
 * Computes statistics of a subject. `success rate` is the share of completed runs among those that completed, failed or
 * timed out; cancelled and rejected runs do not count. Durations are of completed runs, from start to end; percentiles
 * are durations that occurred (nearest rank). Test runs are excluded.
 */
import type { Sql } from '@gantry/postgres';

/** Newest runs that rates, durations and costs of the last thirty days consider; a few hundred milliseconds. */
const RUNS_MAX = 100_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Matches the format of settle-runs.ts; PostgreSQL cannot query json that contains a NUL. */
const ERROR_CODE = `substring(error::text from '^\\s*\\{\\s*"code"\\s*:\\s*"([a-z_]+)"')`;
/** Duration of a run that has started and ended. */
export const DURATION_MS = 'greatest(0, round(extract(epoch FROM finished_at - started_at) * 1000))::float8';

const STATS = `
  WITH recent AS MATERIALIZED (
    SELECT status, created_at, started_at, finished_at, cost_usd, CASE WHEN error IS NOT NULL THEN ${ERROR_CODE} END AS code
    FROM runs WHERE subject_id = $1 AND kind = 'run' AND created_at >= $3 ORDER BY created_at DESC, id DESC LIMIT ${RUNS_MAX}
  ), durations AS (
    SELECT ${DURATION_MS} AS ms FROM recent WHERE status = 'completed' AND started_at IS NOT NULL
  )
  SELECT (SELECT count(*)::int FROM runs WHERE subject_id = $1 AND kind = 'run') AS runs_total,
    (SELECT count(*)::int FROM runs WHERE subject_id = $1 AND kind = 'run' AND created_at >= $2) AS runs_7d,
    (SELECT count(*)::int FROM runs WHERE subject_id = $1 AND kind = 'run' AND created_at >= $3) AS runs_30d,
    (SELECT avg((status = 'completed')::int)::float8 FROM recent
      WHERE status IN ('completed', 'failed', 'timed_out') AND created_at >= $2) AS success_rate_7d,
    (SELECT avg((status = 'completed')::int)::float8 FROM recent
      WHERE status IN ('completed', 'failed', 'timed_out')) AS success_rate_30d,
    (SELECT avg(ms) FROM durations) AS avg_duration_ms,
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM durations) AS p50_duration_ms,
    (SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) FROM durations) AS p95_duration_ms,
    (SELECT coalesce(sum(cost_usd), 0) FROM recent) AS total_cost_usd_30d,
    (SELECT coalesce(json_object_agg(code, count), '{}') FROM (
      SELECT coalesce(code, status) AS code, count(*)::int FROM recent WHERE status IN ('failed', 'timed_out') GROUP BY 1
    ) c) AS failures_by_code`;

/** One index probe for each of the two statuses. */
const LAST_ERROR = `
  SELECT error, finished_at FROM (
    (SELECT error, finished_at, created_at, id FROM runs WHERE subject_id = $1 AND kind = 'run' AND status = 'failed'
      ORDER BY created_at DESC, id DESC LIMIT 1)
    UNION ALL
    (SELECT error, finished_at, created_at, id FROM runs WHERE subject_id = $1 AND kind = 'run' AND status = 'timed_out'
      ORDER BY created_at DESC, id DESC LIMIT 1)
  ) f ORDER BY created_at DESC, id DESC LIMIT 1`;

/** @param subjectId visible to the caller: the queries select runs by it alone, and it is unique across workspaces */
export async function computeSubjectStats(sql: Sql, subjectId: string, now: Date) {
  const since = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const [{ rows }, last] = await Promise.all([
    sql.query(STATS, [subjectId, since(7), since(30)]),
    sql.query(LAST_ERROR, [subjectId]),
  ]);
  const [stats] = rows;
  const [failure] = last.rows;
  return {
    ...stats,
    success_rate_7d: round(stats.success_rate_7d, 4),
    success_rate_30d: round(stats.success_rate_30d, 4),
    avg_duration_ms: round(stats.avg_duration_ms, 1),
    last_error: failure?.error?.message ?? null,
    last_error_at: failure?.finished_at?.toISOString() ?? null,
  };
}

const round = (value: number | null, digits: number): number | null =>
  value === null ? null : Number(value.toFixed(digits));

export type Bucket = 'day' | 'hour';

interface BucketRow {
  start: Date;
  total: number;
  completed: number;
  failed: number;
  cost_usd: number;
  p50_duration_ms: number | null;
  p95_duration_ms: number | null;
}

/** Buckets runs by creation time in UTC; the last bucket is the current one, and those without runs are zero. */
export async function computeSubjectTimeseries(
  sql: Sql,
  subjectId: string,
  { days, bucket, now }: { days: number; bucket: Bucket; now: Date },
) {
  const stepMs = bucket === 'day' ? DAY_MS : HOUR_MS;
  const count = (days * DAY_MS) / stepMs;
  const lastStart = Math.floor(now.getTime() / stepMs) * stepMs;
  const firstStart = lastStart - (count - 1) * stepMs;
  const { rows } = await sql.query<BucketRow>(
    `SELECT date_trunc($2, created_at, 'UTC') AS start, count(*)::int AS total,
       count(*) FILTER (WHERE status = 'completed')::int AS completed,
       count(*) FILTER (WHERE status IN ('failed', 'timed_out'))::int AS failed, sum(cost_usd) AS cost_usd,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY ${DURATION_MS})
         FILTER (WHERE status = 'completed' AND started_at IS NOT NULL) AS p50_duration_ms,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY ${DURATION_MS})
         FILTER (WHERE status = 'completed' AND started_at IS NOT NULL) AS p95_duration_ms
     FROM runs WHERE subject_id = $1 AND kind = 'run' AND created_at >= $3 AND created_at < $4 GROUP BY 1`,
    [subjectId, bucket, new Date(firstStart), new Date(lastStart + stepMs)],
  );
  const byStart = new Map(rows.map((row) => [row.start.getTime(), row]));
  return Array.from({ length: count }, (_, index) => {
    const start = firstStart + index * stepMs;
    const zero = { total: 0, completed: 0, failed: 0, cost_usd: 0, p50_duration_ms: null, p95_duration_ms: null };
    return { ...zero, ...byStart.get(start), start: new Date(start).toISOString() };
  });
}
