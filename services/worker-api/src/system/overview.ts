/** Activity in a workspace, on both surfaces; every query's cost has a bound. */
import { AUTOMATION_STATS_SUBJECT, type AutomationStats, automationStats, request } from '@gantry/events';
import type { Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import { COUNTED_MAX, loadLastOutcomes } from '@gantry/run-engine';
import { countPendingApprovalsUpTo } from '../approvals/approval-repository';
import { loadUsageByDay } from '../runs/usage';
import { listNextFires } from '../workers/triggered-workers';
import { countWorkersByStatus, listNewestWorkers } from '../workers/worker-queries';
import { type Executors, executorToApi } from './executors';
import type { SystemDeps } from './system-deps';

type OverviewDeps = Pick<SystemDeps, 'pool' | 'bus' | 'engine' | 'now' | 'log'> & { executors: Executors };

const STATS_MS = 500;
const DAY_MS = 86_400_000;
/** Health is asked of so many workers, the newest, and sought among so many runs of each. */
const SCANNED_WORKERS_MAX = 500;
const SCANNED_RUNS_MAX = 20;
const FAILING_WORKERS_MAX = 20;
const ERROR_CHARS_MAX = 300;

/** The lengths of `by_day` and `upcoming`. */
const DAYS = 14;
const UPCOMING_FIRES_MAX = 8;

export async function loadOverview(deps: OverviewDeps, caller: Principal) {
  const { pool, engine, now, executors } = deps;
  const { workspaceId } = caller;
  const at = now();
  const [workers, failing, approvals, current, recent, automations, byDay, upcoming] = await Promise.all([
    countWorkersByStatus(pool, caller, COUNTED_MAX + 1),
    listFailingWorkers(pool, caller),
    countPendingApprovalsUpTo(pool, workspaceId, COUNTED_MAX),
    engine.counts(workspaceId),
    engine.recentCounts(workspaceId, new Date(at.getTime() - DAY_MS)),
    requestAutomationStats(deps, workspaceId),
    loadDailyStats(pool, workspaceId, at),
    listNextFires(pool, caller, UPCOMING_FIRES_MAX),
  ]);
  const { active, paused, archived } = workers;
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
      ...capCounts({ total: active + paused + archived, active, paused, archived }),
      failing,
    },
    runs: {
      ...capCounts({ ...current, queued }),
      // Those that have not ended are counted above: no run is in two numbers.
      last_24h: capCounts({ total: Object.values(lastDay).reduce((sum, count) => sum + count), ...lastDay }),
      by_day: byDay,
    },
    upcoming: upcoming.map((fire) => ({ id: fire.id, name: fire.name, at: fire.at.toISOString() })),
    approvals_pending: approvals,
    automations: automations && capCounts(automations),
    automations_unavailable: automations ? null : 'the automation service did not respond in time',
    queue_depth: Math.min(current.queued + (automations?.queued ?? 0), COUNTED_MAX),
    executors: executors.list().map(executorToApi),
    generated_at: at.toISOString(),
  };
}

/** The last DAYS days of UTC, oldest first; those without runs are zero. */
async function loadDailyStats(sql: Sql, workspaceId: string, now: Date) {
  const days = Array.from({ length: DAYS }, (_, index) =>
    new Date(now.getTime() - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const used = await loadUsageByDay(sql, workspaceId, days[0] as string);
  const known = new Map(used.map((row) => [row.day, row]));
  return days.map((day) => {
    const { runs = 0, failed = 0 } = known.get(day) ?? {};
    return { day, runs, failed };
  });
}

/**
 * Workers whose current version did not complete its last run that came to an end of its own, the latest failure
 * first.
 */
async function listFailingWorkers(sql: Sql, caller: Principal) {
  const workers = await listNewestWorkers(sql, caller, SCANNED_WORKERS_MAX);
  const subjects = workers.map(({ uid: id, currentVersion: version }) => ({ id, version }));
  const outcomes = await loadLastOutcomes(sql, subjects, { seenAt: SCANNED_RUNS_MAX });
  return workers
    .flatMap(({ uid, id, name }) => {
      const ended = outcomes.get(uid)?.ended;
      return ended && ended.status !== 'completed' ? [{ id, name, ended }] : [];
    })
    .sort((a, b) => b.ended.finishedAt.getTime() - a.ended.finishedAt.getTime())
    .slice(0, FAILING_WORKERS_MAX)
    .map(({ id, name, ended: { id: runId, error, finishedAt } }) => {
      const lastError = error?.message?.slice(0, ERROR_CHARS_MAX) ?? null;
      return { id, name, last_error: lastError, last_run_id: runId, failed_at: finishedAt.toISOString() };
    });
}

/** Numbers up to COUNTED_MAX; `capped` where one of them is really higher. */
function capCounts<Name extends string>(counts: Record<Name, number>): Record<Name, number> & { capped: boolean } {
  const entries = Object.entries<number>(counts);
  const shown = Object.fromEntries(entries.map(([name, count]) => [name, Math.min(count, COUNTED_MAX)]));
  return { ...(shown as Record<Name, number>), capped: entries.some(([, count]) => count > COUNTED_MAX) };
}

/** Returns null without a response in time: the rest is worth showing. */
async function requestAutomationStats(
  { bus, log }: OverviewDeps,
  workspaceId: string,
): Promise<AutomationStats | null> {
  try {
    return await request(bus, AUTOMATION_STATS_SUBJECT, { workspaceId }, automationStats, STATS_MS, 'automation-api');
  } catch (err) {
    log.info({ err }, 'could not include automations in the overview');
    return null;
  }
}
