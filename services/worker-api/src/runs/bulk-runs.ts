/** One request about many runs: those that it names, or those that a filter finds. */

import { AppError, actorOf, callerOf, creating, invalid, madeBy, type Operations } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { listRunPage } from '@gantry/run-engine';
import type { Request } from 'express';
import { recordChange } from '../audit/audit-entry';
import type { Deps } from '../deps';
import type { ApiRunStatus } from '../run-status';
import { getRunFor } from '../workers/visible-worker';
import { replayRun } from './replay-run';
import { type AskedFilter, runFilterOf } from './run-filter';
import { originOf, runAndWorkerOf } from './run-of-request';

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
        await deps.engine.cancel(workspaceId, id, async (tx) => {
          const change = { workspaceId, action: 'run.cancelled', resource: { type: 'run', id } };
          await recordChange(tx, actorOf(req), change);
        });
      });
      res.json({ matched: ids.length, ...outcome, more });
    },

    // All of them in one transaction: whoever asks again finds every run, or none.
    replayRuns: creating(
      async (req, res) => {
        const { ids, more } = await runsOf(req, { allowed: ENDED, default: ['failed', 'timed_out'] });
        const found = new Map<string, Awaited<ReturnType<typeof runAndWorkerOf>>>();
        // Before the transaction, for it takes another connection.
        const looked = await forEach(ids.reverse(), async (id) => {
          found.set(id, await runAndWorkerOf(deps, req, id));
        });
        const answer = await transaction(deps.pool, async (tx) => {
          const made: string[] = [];
          const replay = { version: req.body.version, origin: { ...originOf(req), tx } };
          const replayed = await forEach(
            ids.filter((id) => found.has(id)),
            async (id) => {
              const { run, worker } = found.get(id) as NonNullable<ReturnType<typeof found.get>>;
              // It refuses before it writes.
              made.push((await replayRun(deps, worker, run, replay)).id);
            },
            1,
          );
          const skipped = looked.skipped + replayed.skipped;
          const errors = [...looked.errors, ...replayed.errors].slice(0, ERRORS_SHOWN);
          const body = { matched: ids.length, changed: made.length, skipped, errors, more, run_ids: made };
          await madeBy(req)(tx, made.join(' '), { status: 200, body });
          return body;
        });
        res.json(answer);
      },
      {
        see: async (req, madeIds) => {
          for (const id of madeIds.split(' ').filter(Boolean)) await getRunFor(deps, callerOf(req), id);
        },
      },
    ),
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
async function forEach(ids: string[], work: (id: string) => Promise<void>, atOnce = AT_ONCE): Promise<Outcome> {
  const outcome: Outcome = { changed: 0, skipped: 0, errors: [] };
  const left = [...ids];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
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
