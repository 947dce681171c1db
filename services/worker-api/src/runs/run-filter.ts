/** Which runs a request is about: the query of lists and exports, and the body of bulk operations. */

import { type OperationCall, parseQueryDate } from '@gantry/http';
import { getTokenScope, type Principal } from '@gantry/limits';
import type { PagedRunFilter } from '@gantry/run-engine';
import { type ApiRunStatus, toEngineStatuses } from '../workers/run-status';
import { listHiddenWorkers } from '../workers/visible-worker';
import { findWorkerUids, getVisibleWorker } from '../workers/worker-repository';
import type { RunDeps } from './run-deps';

/** As requests write it. */
export type RequestedRunFilter = NonNullable<OperationCall<'worker', 'cancelRuns'>['body']['filter']> &
  Pick<OperationCall<'worker', 'listRuns'>['query'], 'tag' | 'q'>;

/**
 * @param defaultStatuses the statuses where the request names none; default: any
 * @throws AppError 404 for a worker that is not there for this caller
 */
export async function toRunFilter(
  deps: RunDeps,
  caller: Principal,
  requestedFilter: RequestedRunFilter,
  defaultStatuses: ApiRunStatus[] = [],
): Promise<PagedRunFilter> {
  const { worker_id: workerId, status, trigger, tag, q } = requestedFilter;
  const filter: PagedRunFilter = {
    statuses: (status ? [status] : defaultStatuses).flatMap(toEngineStatuses),
    hidden: [],
  };
  if (workerId !== undefined) filter.subjectId = (await getVisibleWorker(deps.prisma, caller, workerId)).uid;
  const isForFew = workerId === undefined && getTokenScope(caller, 'workers') !== null;
  if (tag !== undefined || q !== undefined || isForFew) {
    const uids = await findWorkerUids(deps.prisma, caller, { tag, q });
    filter.subjectIds = uids.filter((uid) => filter.subjectId === undefined || uid === filter.subjectId);
    delete filter.subjectId;
  } else if (workerId === undefined) filter.hidden = await listHiddenWorkers(deps.pool, caller);
  // Tests are part of no list but their own. A trigger says by itself which kind its runs are of.
  if (trigger === undefined) filter.kind = 'run';
  else filter.trigger = trigger;
  const since = parseQueryDate(requestedFilter.since, 'since');
  const until = parseQueryDate(requestedFilter.until, 'until');
  if (since) filter.since = since;
  if (until) filter.until = until;
  return filter;
}
