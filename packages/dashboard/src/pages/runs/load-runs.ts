/** Loads pages of both surfaces' runs, newest first. */
import { unwrap } from '@gantry/sdk';
import { getRunStatusDisplay } from '../../runs/run-status';
import { api, getWorkerApi, type RunItem, type RunStatus, type WorkerRunItem } from '../../shell/api';
import { type RunRow, toAutomationRunRow, toWorkerRunRow } from './run-row';
import { type RunsFilter, type Status, type Surface, type Trigger, toTimeRange } from './runs-filter';

/** The position at which older runs begin, in the format of its surface. */
export type Cursor = Record<string, string>;

export interface RunsPage {
  rows: RunRow[];
  /** Null once the oldest run is loaded. */
  next: Cursor | null;
}

export const PAGE_SIZE = 50;

type LoadRunsPage = (filter: RunsFilter, cursor: Cursor | null, limit?: number) => Promise<RunsPage>;

const WORKER_TRIGGERS: Trigger[] = ['api', 'schedule', 'webhook', 'event', 'call', 'replay', 'rehearsal'];
const AUTOMATION_TRIGGERS: Trigger[] = ['api', 'schedule', 'page', 'link'];

/** The automation surface has fewer statuses: a cancelled run is an error there. */
const AUTOMATION_STATUS: Partial<Record<Status, RunStatus>> = {
  queued: 'pending',
  running: 'running',
  completed: 'success',
  failed: 'error',
  cancelled: 'error',
  timed_out: 'timeout',
};

/** Returns whether the surface can have a run that matches the filter. */
export function matchesSurface(surface: Surface, filter: RunsFilter): boolean {
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
export function toWorkerQuery({ worker, status, trigger, tag, q, ...filter }: RunsFilter) {
  const { since, until } = toTimeRange(filter, Date.now());
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

const loadWorkerRuns: LoadRunsPage = async (filter, cursor, limit = PAGE_SIZE) => {
  const query = { limit, ...toWorkerQuery(filter), ...cursor };
  const response = (await getWorkerApi()).GET('/api/runs', { params: { query } });
  const runs = await unwrap(response);
  const { headers } = (await response).response;
  const createdAt = headers.get('X-Next-Before-Created-At');
  const id = headers.get('X-Next-Before-Id');
  return {
    rows: runs.map(toWorkerRunRow),
    next: createdAt && id ? { before_created_at: createdAt, before_id: id } : null,
  };
};

const loadAutomationRunsPage: LoadRunsPage = async (
  { automation, status, trigger, q, ...filter },
  cursor,
  limit = PAGE_SIZE,
) => {
  const response = await api.automation.GET('/api/runs', {
    params: {
      query: {
        limit,
        ...(automation && { automationId: automation }),
        ...(status && { status: AUTOMATION_STATUS[status] }),
        ...(trigger && { trigger: trigger as RunItem['trigger'] }),
        ...(q && { q }),
        ...toTimeRange(filter, Date.now()),
        ...cursor,
      },
    },
  });
  const rows = response.runs.map(toAutomationRunRow).filter(({ shown }) => !status || hasStatus(shown, status));
  return { rows, next: response.nextBefore === null ? null : { before: response.nextBefore } };
};

const hasStatus = (runStatus: RunRow['shown'], status: Status): boolean =>
  getRunStatusDisplay(runStatus).word === getRunStatusDisplay({ status }).word;

export const runLoaders: Record<Surface, LoadRunsPage> = { worker: loadWorkerRuns, automation: loadAutomationRunsPage };
