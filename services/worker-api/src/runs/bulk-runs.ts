/** One request about many runs: those that it names, or those that a filter finds. */
import { AppError, callerOf, invalid, type Operations } from '@gantry/http';
import type { Request } from 'express';
import { actorOf } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import type { Deps } from '../deps';
import { replayRun } from './replay-run';
import type { ApiRunStatus } from './run';
import { type AskedFilter, runFilterOf } from './run-filter';
import { listRunPage } from './run-list';
import { getRunFor, originOf, runAndWorkerOf } from './run-of-request';

/** Runs of one request; `more` says that a filter finds others. */
const RUNS_MAX = 1_000;
/** A filter that leaves out nearly everything is followed so far in one request. */
const PAGES_MAX = 20;
const AT_ONCE = 4;
const ERRORS_SHOWN = 20;

interface BulkBody {
  ids?: string[];
  filter?: AskedFilter;
}

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

export function bulkRunOperations(deps: Deps): Operations {
  return {
    cancelRuns: async (req, res) => {
      const { ids, more } = await runsOf(req, { allowed: CANCELLABLE, default: CANCELLABLE });
      const outcome = await forEach(ids, async (id) => {
        const { workspaceId } = callerOf(req);
        await getRunFor(deps, callerOf(req), id);
        await deps.engine.cancel(workspaceId, id, async (execute) => {
          const change = { workspaceId, action: 'run.cancelled', resource: { type: 'run', id } };
          await recordChange(execute, actorOf(req), change);
        });
      });
      res.json({ matched: ids.length, ...outcome, more });
    },

    replayRuns: async (req, res) => {
      const { ids, more } = await runsOf(req, { allowed: ENDED, default: ['failed', 'timed_out'] });
      const { version } = req.body;
      const made: string[] = [];
      const outcome = await forEach(ids.reverse(), async (id) => {
        const { run, worker } = await runAndWorkerOf(deps, req, id);
        made.push((await replayRun(deps, worker, run, { version, origin: originOf(req) })).id);
      });
      res.json({ matched: ids.length, ...outcome, more, run_ids: made });
    },
  };

  /** Newest first. @throws AppError 400 unless there is exactly one of ids and filter, and the status makes sense */
  async function runsOf(req: Request, statuses: { allowed: ApiRunStatus[]; default: ApiRunStatus[] }): Promise<Found> {
    const { ids, filter: asked } = req.body as BulkBody;
    if ((ids === undefined) === (asked === undefined)) {
      throw invalid([{ path: ids ? 'filter' : 'ids', message: 'give either ids or a filter' }]);
    }
    if (ids) return { ids: [...new Set(ids)], more: false };
    const { status } = asked as AskedFilter;
    if (status && !statuses.allowed.includes(status)) {
      throw invalid([{ path: 'filter.status', message: `must be one of ${statuses.allowed.join(', ')}` }]);
    }
    const filter = await runFilterOf(deps, req, asked as AskedFilter, statuses.default);
    const { workspaceId } = callerOf(req);
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

/** What may not be done to one run is said of it, and the others go on. */
async function forEach(ids: string[], work: (id: string) => Promise<void>): Promise<Outcome> {
  const outcome: Outcome = { changed: 0, skipped: 0, errors: [] };
  const left = [...ids];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
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
