/** Requests that the code of runs made to other hosts. */
import { type Operations, ok } from '@gantry/http';
import { hasMostRequests, readRequests, requestMatcherOf } from '@gantry/run-engine';
import { eventPage } from './event-page';
import type { RunDeps } from './run-deps';
import { runOf } from './run-of-request';
import { requestToApi } from './run-request';

export function requestOperations(deps: RunDeps): Operations<'worker'> {
  const { pool } = deps;
  return {
    listRunRequests: async (call) => {
      const { query } = call;
      const { id } = await runOf(deps, call);
      const { page, headers } = await eventPage(readRequests(pool, id, query.after), requestMatcherOf(query), call);
      return ok(page.map(requestToApi), { ...headers, 'X-Truncated': String(await hasMostRequests(pool, id)) });
    },
  };
}
