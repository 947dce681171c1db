/** Serves bulk operations on runs, selected by id or by a filter. */

import { AppError, invalid } from '@gantry/errors';
import { type OperationCall, type Operations, ok } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { transaction } from '@gantry/postgres';
import { listRunPage } from '@gantry/run-engine';
import { recordChange } from '../audit/audit-entry';
import type { ApiRunStatus } from '../workers/run-status';
import { getVisibleRun } from '../workers/visible-worker';
import { replayRun } from './replay-run';
import { getRunAndWorker, toOrigin } from './requested-run';
import type { RunDeps } from './run-deps';
import { type RequestedRunFilter, toRunFilter } from './run-filter';

/** Limits the runs of one request; `more` reports that the filter matches others. */
const RUNS_MAX = 1_000;
/** Limits the pages that one request scans for a filter that matches few runs. */
const PAGES_MAX = 20;
const CONCURRENCY_MAX = 4;
const ERRORS_MAX = 20;

interface SelectedRuns {
  ids: string[];
  more: boolean;
}

interface BulkOutcome {
  changed: number;
  skipped: number;
  errors: { run_id: string; code: string; detail: string }[];
}

const CANCELLABLE: ApiRunStatus[] = ['queued', 'running', 'pending_approval'];
const ENDED: ApiRunStatus[] = ['completed', 'failed', 'cancelled', 'timed_out', 'rejected'];

export function createBulkRunOperations(deps: RunDeps): Operations<'worker'> {
  return {
    cancelRuns: async ({ caller, actor, body }) => {
      const { ids, more } = await selectRuns(caller, body, { allowed: CANCELLABLE, default: CANCELLABLE });
      const outcome = await processRuns(ids, async (id) => {
        const { workspaceId } = caller;
        await getVisibleRun(deps, caller, id);
        await deps.engine.cancel(workspaceId, id, async (tx) => {
          await recordChange(tx, actor, 'run.cancelled', { workspaceId, id });
        });
      });
      return ok({ matched: ids.length, ...outcome, more });
    },

    // All of them in one transaction: a repeated request finds every run, or none.
    replayRuns: {
      create: async ({ caller, body: request, markCreated, req }) => {
        const { ids, more } = await selectRuns(caller, request, { allowed: ENDED, default: ['failed', 'timed_out'] });
        const found = new Map<string, Awaited<ReturnType<typeof getRunAndWorker>>>();
        // Before the transaction, since it takes another connection.
        const lookup = await processRuns(ids.reverse(), async (id) => {
          found.set(id, await getRunAndWorker(deps, caller, id));
        });
        const outcome = await transaction(deps.pool, async (tx) => {
          const runIds: string[] = [];
          const replay = { version: request.version, origin: { ...toOrigin(req), tx } };
          const replayed = await processRuns(
            ids.filter((id) => found.has(id)),
            async (id) => {
              const { run, worker } = found.get(id) as NonNullable<ReturnType<typeof found.get>>;
              // Throws before it writes.
              runIds.push((await replayRun(deps, worker, run, replay)).id);
            },
            1,
          );
          const skipped = lookup.skipped + replayed.skipped;
          const errors = [...lookup.errors, ...replayed.errors].slice(0, ERRORS_MAX);
          const body = { matched: ids.length, changed: runIds.length, skipped, errors, more, run_ids: runIds };
          await markCreated(tx, runIds.join(' '), { status: 200, body });
          return body;
        });
        return ok(outcome);
      },
      assertVisible: async ({ caller }, createdIds) => {
        for (const id of createdIds.split(' ').filter(Boolean)) await getVisibleRun(deps, caller, id);
      },
    },
  };

  /** Newest first. @throws AppError 400 unless there is exactly one of ids and filter, and the status makes sense */
  async function selectRuns(
    caller: Principal,
    { ids, filter: requestedFilter }: OperationCall<'worker', 'cancelRuns'>['body'],
    statuses: { allowed: ApiRunStatus[]; default: ApiRunStatus[] },
  ): Promise<SelectedRuns> {
    if ((ids === undefined) === (requestedFilter === undefined)) {
      throw invalid([{ path: ids ? 'filter' : 'ids', message: 'send either ids or a filter' }]);
    }
    if (ids) return { ids: [...new Set(ids)], more: false };
    const { status } = requestedFilter as RequestedRunFilter;
    if (status && !statuses.allowed.includes(status)) {
      throw invalid([{ path: 'filter.status', message: `must be one of ${statuses.allowed.join(', ')}` }]);
    }
    const filter = await toRunFilter(deps, caller, requestedFilter as RequestedRunFilter, statuses.default);
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
async function processRuns(
  ids: string[],
  work: (id: string) => Promise<void>,
  concurrency = CONCURRENCY_MAX,
): Promise<BulkOutcome> {
  const outcome: BulkOutcome = { changed: 0, skipped: 0, errors: [] };
  const remaining = [...ids];
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      // Bounded: 1,000 runs (RUNS_MAX).
      for (let id = remaining.shift(); id !== undefined; id = remaining.shift()) {
        try {
          await work(id);
          outcome.changed++;
        } catch (err) {
          if (!(err instanceof AppError)) throw err;
          outcome.skipped++;
          if (outcome.errors.length < ERRORS_MAX) {
            outcome.errors.push({ run_id: id, code: err.code, detail: err.detail });
          }
        }
      }
    }),
  );
  return outcome;
}
