/** Serves bulk operations on runs, selected by id or by a filter. */

import { AppError, type CallOf, invalid, type Operations, ok, type Principal } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { listRunPage } from '@gantry/run-engine';
import { recordChange } from '../audit/audit-entry';
import type { ApiRunStatus } from '../workers/run-status';
import { getRunFor } from '../workers/visible-worker';
import { replayRun } from './replay-run';
import type { RunDeps } from './run-deps';
import { type AskedFilter, runFilterOf } from './run-filter';
import { originOf, runAndWorkerOf } from './run-of-request';

/** Limits the runs of one request; `more` reports that the filter matches others. */
const RUNS_MAX = 1_000;
/** Limits the pages that one request scans for a filter that matches few runs. */
const PAGES_MAX = 20;
const AT_ONCE = 4;
const ERRORS_SHOWN = 20;

interface Found {
  ids: string[];
  more: boolean;
}

interface Outcome {
  changed: number;
  skipped: number;
  errors: { run_id: string; code: string; detail: string }[];
}

const CANCELLABLE: ApiRunStatus[] = ['queued', 'running', 'pending_approval'];
const ENDED: ApiRunStatus[] = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

export function bulkRunOperations(deps: RunDeps): Operations<'worker'> {
  return {
    cancelRuns: async ({ caller, actor, body }) => {
      const { ids, more } = await runsOf(caller, body, { allowed: CANCELLABLE, default: CANCELLABLE });
      const outcome = await forEach(ids, async (id) => {
        const { workspaceId } = caller;
        await getRunFor(deps, caller, id);
        await deps.engine.cancel(workspaceId, id, async (tx) => {
          await recordChange(tx, actor, { workspaceId, action: 'run.cancelled', id });
        });
      });
      return ok({ matched: ids.length, ...outcome, more });
    },

    // All of them in one transaction: a repeated request finds every run, or none.
    replayRuns: {
      make: async ({ caller, body: asked, made, req }) => {
        const { ids, more } = await runsOf(caller, asked, { allowed: ENDED, default: ['failed', 'timed_out'] });
        const found = new Map<string, Awaited<ReturnType<typeof runAndWorkerOf>>>();
        // Before the transaction, since it takes another connection.
        const looked = await forEach(ids.reverse(), async (id) => {
          found.set(id, await runAndWorkerOf(deps, caller, id));
        });
        const outcome = await transaction(deps.pool, async (tx) => {
          const runIds: string[] = [];
          const replay = { version: asked.version, origin: { ...originOf(req), tx } };
          const replayed = await forEach(
            ids.filter((id) => found.has(id)),
            async (id) => {
              const { run, worker } = found.get(id) as NonNullable<ReturnType<typeof found.get>>;
              // Throws before it writes.
              runIds.push((await replayRun(deps, worker, run, replay)).id);
            },
            1,
          );
          const skipped = looked.skipped + replayed.skipped;
          const errors = [...looked.errors, ...replayed.errors].slice(0, ERRORS_SHOWN);
          const body = { matched: ids.length, changed: runIds.length, skipped, errors, more, run_ids: runIds };
          await made(tx, runIds.join(' '), { status: 200, body });
          return body;
        });
        return ok(outcome);
      },
      see: async ({ caller }, madeIds) => {
        for (const id of madeIds.split(' ').filter(Boolean)) await getRunFor(deps, caller, id);
      },
    },
  };

  /** Newest first. @throws AppError 400 unless there is exactly one of ids and filter, and the status makes sense */
  async function runsOf(
    caller: Principal,
    { ids, filter: asked }: CallOf<'worker', 'cancelRuns'>['body'],
    statuses: { allowed: ApiRunStatus[]; default: ApiRunStatus[] },
  ): Promise<Found> {
    if ((ids === undefined) === (asked === undefined)) {
      throw invalid([{ path: ids ? 'filter' : 'ids', message: 'give either ids or a filter' }]);
    }
    if (ids) return { ids: [...new Set(ids)], more: false };
    const { status } = asked as AskedFilter;
    if (status && !statuses.allowed.includes(status)) {
      throw invalid([{ path: 'filter.status', message: `must be one of ${statuses.allowed.join(', ')}` }]);
    }
    const filter = await runFilterOf(deps, caller, asked as AskedFilter, statuses.default);
    const { workspaceId } = caller;
    const found: string[] = [];
    let page = await listRunPage(deps.pool, workspaceId, filter, { limit: RUNS_MAX });
    for (let pages = 1; ; pages++) {
      found.push(...page.runs.map(({ id }) => id));
      if (!page.next || found.length >= RUNS_MAX || pages === PAGES_MAX) break;
      page = await listRunPage(deps.pool, workspaceId, filter, { limit: RUNS_MAX - found.length, before: page.next });
    }
    return { ids: found, more: page.next !== null };
  }
}

/** Collects the errors of single runs while the others continue. */
async function forEach(ids: string[], work: (id: string) => Promise<void>, atOnce = AT_ONCE): Promise<Outcome> {
  const outcome: Outcome = { changed: 0, skipped: 0, errors: [] };
  const left = [...ids];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      // Bounded: 1,000 runs (RUNS_MAX).
      for (let id = left.shift(); id !== undefined; id = left.shift()) {
        try {
          await work(id);
          outcome.changed++;
        } catch (err) {
          if (!(err instanceof AppError)) throw err;
          outcome.skipped++;
          if (outcome.errors.length < ERRORS_SHOWN) {
            outcome.errors.push({ run_id: id, code: err.code, detail: err.detail });
          }
        }
      }
    }),
  );
  return outcome;
}
