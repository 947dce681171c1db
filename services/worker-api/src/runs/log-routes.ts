/** Serves logs of runs as a list, as text, live, and over all runs of a worker. */
import { buildNextLink, type Operations, ok, parseQueryDate, writeWithBackpressure } from '@gantry/http';
import {
  countLineChars,
  createLineMatcher,
  LOG_PAGE_CHARS_MAX,
  loadSubjectLog,
  type StreamFormat,
  streamLogLines,
} from '@gantry/run-engine';
import { getVisibleWorker } from '../workers/worker-repository';
import { paginateEvents } from './event-page';
import { formatCursor, parseCursor } from './log-cursor';
import { formatLogLine, logLineToApi } from './log-line';
import { toOutputObject } from './output-object';
import { getRequestedRun } from './requested-run';
import type { RunDeps } from './run-deps';

/** Omits a large output, which clients fetch with the run: the event only reports that it is stored. */
const eventWording: StreamFormat = {
  name: 'worker',
  of: { output: (data) => ('output' in data ? { ...data, output: toOutputObject(data.output) } : data) },
  others: 'told',
};

export function createLogOperations(deps: RunDeps): Operations<'worker'> {
  const { engine, pool, prisma } = deps;
  return {
    listRunLogs: async (call) => {
      const { query, res } = call;
      const run = await getRequestedRun(deps, call);
      const matches = createLineMatcher(query);
      if (query.format === 'text') {
        res.type('text/plain; charset=utf-8');
        for await (const line of streamLogLines(pool, run.id, query.after)) {
          if (res.destroyed) return;
          if (matches(line)) await writeWithBackpressure(res, formatLogLine(line));
        }
        res.end();
        return;
      }
      const size = { maxChars: LOG_PAGE_CHARS_MAX, countChars: countLineChars };
      const { page, headers } = await paginateEvents(streamLogLines(pool, run.id, query.after), matches, call, size);
      return ok(page.map(logLineToApi), headers);
    },

    listWorkerLogs: async ({ caller, path, query, req }) => {
      const worker = await getVisibleWorker(prisma, caller, path.worker_id);
      const { q, level, since, limit, offset, cursor } = query;
      const { lines, next, skipped } = await loadSubjectLog(pool, worker.uid, {
        search: q,
        level,
        since: parseQueryDate(since, 'since'),
        limit,
        offset,
        cursor: cursor === undefined ? undefined : parseCursor(cursor),
      });
      return ok(
        lines.map(({ runId, ...line }) => ({ run_id: runId, ...logLineToApi(line) })),
        {
          'X-Has-More': String(next !== null),
          ...(next && {
            'X-Next-Cursor': formatCursor(next),
            ...buildNextLink(req, { cursor: formatCursor(next), offset: offset - skipped || null }),
          }),
        },
      );
    },

    streamRun: async (call) => {
      await engine.stream(call.req, call.res, await getRequestedRun(deps, call), 'all', eventWording);
    },

    streamRunEvents: async (call) => {
      const include = call.query.logs ? 'all' : 'no-logs';
      await engine.stream(call.req, call.res, await getRequestedRun(deps, call), include, eventWording);
    },

    streamRunLogs: async (call) => {
      await engine.stream(call.req, call.res, await getRequestedRun(deps, call), 'logs', eventWording);
    },
  };
}
