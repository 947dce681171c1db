/** Activity in a workspace, on both surfaces; every query's cost has a bound. */
import { AUTOMATION_STATS_SUBJECT, type AutomationStats, automationStats, request } from '@gantry/events';
import { type Principal, roleAtLeast } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import { COUNTED_MAX, lastOutcomes } from '@gantry/run-engine';
import type { Deps } from '../deps';
import { ownerIdOf } from '../ownership';
import { type Executors, executorToApi } from './executors';

type OverviewDeps = Pick<Deps, 'pool' | 'bus' | 'engine' | 'now' | 'log'> & { executors: Executors };

const STATS_MS = 500;
const DAY_MS = 86_400_000;
/** Health is asked of so many workers, the newest, and sought among so many runs of each. */
const WORKERS_LOOKED_AT = 500;
const RUNS_LOOKED_AT = 20;
const FAILING_SHOWN = 20;
const ERROR_CHARS_MAX = 300;

/** $2: whose private workers count too; $3: everybody's do. */
const VISIBLE = `workspace_id = $1 AND deleted_at IS NULL AND (visibility = 'workspace' OR owner_id = $2 OR $3)`;

const WORKERS = `SELECT status, count(*)::int AS count FROM (
    SELECT status FROM workers WHERE ${VISIBLE} LIMIT ${COUNTED_MAX + 1}
  ) AS bounded GROUP BY status`;

const NEWEST = `SELECT uid, id, name, current_version AS version FROM workers WHERE ${VISIBLE} AND status = 'active'
  ORDER BY created_at DESC, uid DESC LIMIT ${WORKERS_LOOKED_AT}`;

/** The lengths of `by_day` and `upcoming`. */
const DAYS = 14;
const UPCOMING = 8;

/** A row for each worker and day, kept while runs end: as cheap for millions of runs as for none. */
const BY_DAY = `SELECT to_char(u.day, 'YYYY-MM-DD') AS day, sum(u.runs)::int AS runs, sum(u.failed)::int AS failed
  FROM workers w JOIN worker_day_usage u ON u.worker_uid = w.uid
  WHERE w.workspace_id = $1 AND u.day >= $2::date GROUP BY u.day`;

const NEXT_FIRES = `SELECT w.id, w.name, t.next_run_at AS at FROM worker_triggers t JOIN workers w ON w.uid = t.worker_uid
  WHERE t.workspace_id = $1 AND t.type = 'cron' AND t.next_run_at IS NOT NULL AND w.status = 'active'
    AND w.deleted_at IS NULL AND (w.visibility = 'workspace' OR w.owner_id = $2 OR $3)
  ORDER BY t.next_run_at, t.id LIMIT ${UPCOMING}`;

const APPROVALS = `SELECT count(*)::int AS count FROM (
    SELECT FROM approvals WHERE workspace_id = $1 AND status = 'pending' LIMIT ${COUNTED_MAX + 1}
  ) AS bounded`;

export async function readOverview(deps: OverviewDeps, caller: Principal) {
  const { pool, engine, now, executors } = deps;
  const { workspaceId } = caller;
  const sight = [workspaceId, ownerIdOf(caller), roleAtLeast(caller.role, 'admin')];
  const at = now();
  const [workers, failing, approvals, current, recent, automations, byDay, upcoming] = await Promise.all([
    pool.query<{ status: 'active' | 'paused' | 'archived'; count: number }>(WORKERS, sight),
    listFailing(pool, sight),
    pool.query<{ count: number }>(APPROVALS, [workspaceId]),
    engine.counts(workspaceId),
    engine.recentCounts(workspaceId, new Date(at.getTime() - DAY_MS)),
    askAutomations(deps, workspaceId),
    readDays(pool, workspaceId, at),
    pool.query<{ id: string; name: string; at: Date }>(NEXT_FIRES, sight),
  ]);
  const byStatus = new Map(workers.rows.map(({ status, count }) => [status, count]));
  const { active = 0, paused = 0, archived = 0 } = Object.fromEntries(byStatus);
  const lastDay = {
    completed: recent.get('completed') ?? 0,
    failed: recent.get('failed') ?? 0,
    timed_out: recent.get('timed_out') ?? 0,
    cancelled: recent.get('cancelled') ?? 0,
    rejected: recent.get('rejected') ?? 0,
  };
  // On this surface a run that waits without a process is queued.
  const queued = current.queued + current.suspended;
  return {
    workers: {
      ...bounded({ total: active + paused + archived, active, paused, archived }),
      failing,
    },
    runs: {
      ...bounded({ ...current, queued }),
      // Those that have not ended are counted above: no run is in two numbers.
      last_24h: bounded({ total: Object.values(lastDay).reduce((sum, count) => sum + count), ...lastDay }),
      by_day: byDay,
    },
    upcoming: upcoming.rows.map((fire) => ({ id: fire.id, name: fire.name, at: fire.at.toISOString() })),
    approvals_pending: Math.min(approvals.rows[0]?.count ?? 0, COUNTED_MAX),
    automations: automations && bounded(automations),
    automations_unavailable: automations ? null : 'the automation service did not answer in time',
    queue_depth: Math.min(current.queued + (automations?.queued ?? 0), COUNTED_MAX),
    executors: executors.list().map(executorToApi),
    generated_at: at.toISOString(),
  };
}

/** The last DAYS days of UTC, oldest first; those without runs are zero. */
async function readDays(sql: Sql, workspaceId: string, now: Date) {
  const days = Array.from({ length: DAYS }, (_, index) =>
    new Date(now.getTime() - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const { rows } = await sql.query<{ day: string; runs: number; failed: number }>(BY_DAY, [workspaceId, days[0]]);
  const known = new Map(rows.map((row) => [row.day, row]));
  return days.map((day) => known.get(day) ?? { day, runs: 0, failed: 0 });
}

/** Workers whose current version did not complete its last run that came to an end of its own, the latest failure first. */
async function listFailing(sql: Sql, sight: unknown[]) {
  const { rows: workers } = await sql.query<{ uid: string; id: string; name: string; version: number }>(NEWEST, sight);
  const subjects = workers.map(({ uid: id, version }) => ({ id, version }));
  const outcomes = await lastOutcomes(sql, subjects, { lookedAt: RUNS_LOOKED_AT });
  return workers
    .flatMap(({ uid, id, name }) => {
      const ended = outcomes.get(uid)?.ended;
      return ended && ended.status !== 'completed' ? [{ id, name, ended }] : [];
    })
    .sort((a, b) => b.ended.finishedAt.getTime() - a.ended.finishedAt.getTime())
    .slice(0, FAILING_SHOWN)
    .map(({ id, name, ended: { id: runId, error, finishedAt } }) => {
      const lastError = error?.message?.slice(0, ERROR_CHARS_MAX) ?? null;
      return { id, name, last_error: lastError, last_run_id: runId, failed_at: finishedAt.toISOString() };
    });
}

/** Numbers up to COUNTED_MAX; `capped` where one of them is really higher. */
function bounded<Name extends string>(counts: Record<Name, number>): Record<Name, number> & { capped: boolean } {
  const entries = Object.entries<number>(counts);
  const shown = Object.fromEntries(entries.map(([name, count]) => [name, Math.min(count, COUNTED_MAX)]));
  return { ...(shown as Record<Name, number>), capped: entries.some(([, count]) => count > COUNTED_MAX) };
}

/** Null when nobody answers in time: the rest is worth showing. */
async function askAutomations({ bus, log }: OverviewDeps, workspaceId: string): Promise<AutomationStats | null> {
  try {
    return await request(bus, AUTOMATION_STATS_SUBJECT, { workspaceId }, automationStats, STATS_MS, 'automation-api');
  } catch (err) {
    log.info({ err }, 'overview without automations');
    return null;
  }
}
