/** Requests that the code of runs made to other hosts. */
import { type Operations, ok } from '@gantry/http';
import { createRequestMatcher, hasReachedRequestLimit, streamRequests } from '@gantry/run-engine';
import { paginateEvents } from './event-page';
import { getRequestedRun } from './requested-run';
import type { RunDeps } from './run-deps';
import { requestToApi } from './run-request';

export function createRequestOperations(deps: RunDeps): Operations<'worker'> {
  const { pool } = deps;
  return {
    listRunRequests: async (call) => {
      const { query } = call;
      const { id } = await getRequestedRun(deps, call);
      const { page, headers } = await paginateEvents(
        streamRequests(pool, id, query.after),
        createRequestMatcher(query),
        call,
      );
      return ok(page.map(requestToApi), { ...headers, 'X-Truncated': String(await hasReachedRequestLimit(pool, id)) });
    },
  };
}
