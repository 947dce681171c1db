/** Loads pages of both surfaces' runs, newest first. */
import { ApiError, unwrap } from '@gantry/sdk';
import { lookOf } from '../../runs/run-status';
import { api, type RunItem, type RunStatus, type WorkerRunItem, workerApi } from '../../shell/api';
import { type RunRow, rowOfAutomationRun, rowOfWorkerRun } from './run-row';
import { type RunsFilter, type Status, type Surface, spanOf, type Trigger } from './runs-filter';

/** The position at which older runs begin, in the format of its surface. */
export type Cursor = Record<string, string>;

export interface RunsPage {
  rows: RunRow[];
  /** Null on the last page. */
  next: Cursor | null;
}

export const PAGE_SIZE = 50;

type ReadPage = (filter: RunsFilter, cursor: Cursor | null, limit?: number) => Promise<RunsPage>;

const WORKER_TRIGGERS: Trigger[] = ['api', 'schedule', 'webhook', 'event', 'call', 'replay', 'rehearsal'];
const AUTOMATION_TRIGGERS: Trigger[] = ['api', 'schedule', 'page', 'link'];

/** The automation surface has fewer statuses: a cancelled run is an error there. */
const AUTOMATION_STATUS: Partial<Record<Status, RunStatus>> = {
  ...{ queued: 'pending', running: 'running', completed: 'success' },
  ...{ failed: 'error', cancelled: 'error', timed_out: 'timeout' },
};

/** Returns whether the surface can have a run that matches the filter. */
export function isAsked(surface: Surface, filter: RunsFilter): boolean {
  if (filter.surface && filter.surface !== surface) return false;
  if (surface === 'worker') {
    return !filter.automation && (!filter.trigger || WORKER_TRIGGERS.includes(filter.trigger));
  }
  return (
    !filter.worker &&
    !filter.tag &&
    (!filter.trigger || AUTOMATION_TRIGGERS.includes(filter.trigger)) &&
    (!filter.status || AUTOMATION_STATUS[filter.status] !== undefined)
  );
}

/** Converts the filter to a query of the worker API, also for its export. */
export function workerQuery({ worker, status, trigger, tag, q, ...filter }: RunsFilter) {
  const { since, until } = spanOf(filter, Date.now());
  return {
    ...(worker && { worker_id: worker }),
    ...(status && { status }),
    ...(trigger && { trigger: trigger as WorkerRunItem['trigger'] }),
    ...(tag && { tag }),
    ...(q && { q }),
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
  };
}

const readWorkerRuns: ReadPage = async (filter, cursor, limit = PAGE_SIZE) => {
  const query = { limit, ...workerQuery(filter), ...cursor };
  const answer = (await workerApi()).GET('/api/runs', { params: { query } });
  const runs = await unwrap(answer);
  const { headers } = (await answer).response;
  const createdAt = headers.get('X-Next-Before-Created-At');
  const id = headers.get('X-Next-Before-Id');
  return {
    rows: runs.map(rowOfWorkerRun),
    next: createdAt && id ? { before_created_at: createdAt, before_id: id } : null,
  };
};

const readAutomationRuns: ReadPage = async (
  { automation, status, trigger, q, ...filter },
  cursor,
  limit = PAGE_SIZE,
) => {
  const answer = await unwrap(
    api.GET('/api/runs', {
      params: {
        query: {
          limit,
          ...(automation && { automationId: automation }),
          ...(status && { status: AUTOMATION_STATUS[status] }),
          ...(trigger && { trigger: trigger as RunItem['trigger'] }),
          ...(q && { q }),
          ...spanOf(filter, Date.now()),
          ...cursor,
        },
      },
    }),
  );
  const rows = answer.runs.map(rowOfAutomationRun).filter(({ shown }) => !status || isOfStatus(shown, status));
  return { rows, next: answer.nextBefore === null ? null : { before: answer.nextBefore } };
};

const isOfStatus = (shown: RunRow['shown'], status: Status): boolean => lookOf(shown).word === lookOf({ status }).word;

export const readRuns: Record<Surface, ReadPage> = { worker: readWorkerRuns, automation: readAutomationRuns };

/** Returns whether the filtered worker or automation was deleted, and therefore has no runs. */
export const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;
