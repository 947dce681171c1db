/** Serves logs of runs as a list, as text, live, and over all runs of a worker. */
import { linkTo, type Operations, ok, parseQueryDate, writeWithBackpressure } from '@gantry/http';
import {
  countLineChars,
  LOG_PAGE_CHARS_MAX,
  matcherOf,
  readLines,
  readSubjectLog,
  type Wording,
} from '@gantry/run-engine';
import { getVisibleWorker } from '../workers/worker-repository';
import { eventPage } from './event-page';
import { cursorText, readCursor } from './log-cursor';
import { lineToApi, lineToText } from './log-line';
import { outputObject } from './output-object';
import type { RunDeps } from './run-deps';
import { runOf } from './run-of-request';

/** Omits a large output, which clients fetch with the run: the event only reports that it is stored. */
const wording: Wording = {
  name: 'worker',
  of: { output: (data) => ('output' in data ? { ...data, output: outputObject(data.output) } : data) },
  others: 'told',
};

export function logOperations(deps: RunDeps): Operations<'worker'> {
  const { engine, pool, prisma } = deps;
  return {
    listRunLogs: async (call) => {
      const { query, res } = call;
      const run = await runOf(deps, call);
      const matches = matcherOf(query);
      if (query.format === 'text') {
        res.type('text/plain; charset=utf-8');
        for await (const line of readLines(pool, run.id, query.after)) {
          if (res.destroyed) return;
          if (matches(line)) await writeWithBackpressure(res, lineToText(line));
        }
        res.end();
        return;
      }
      const size = { maxChars: LOG_PAGE_CHARS_MAX, countChars: countLineChars };
      const { page, headers } = await eventPage(readLines(pool, run.id, query.after), matches, call, size);
      return ok(page.map(lineToApi), headers);
    },

    listWorkerLogs: async ({ caller, path, query, req }) => {
      const worker = await getVisibleWorker(prisma, caller, path.worker_id);
      const { q, level, since, limit, offset, cursor } = query;
      const { lines, next, skipped } = await readSubjectLog(pool, worker.uid, {
        search: q,
        level,
        since: parseQueryDate(since, 'since'),
        limit,
        offset,
        cursor: cursor === undefined ? undefined : readCursor(cursor),
      });
      return ok(
        lines.map(({ runId, ...line }) => ({ run_id: runId, ...lineToApi(line) })),
        {
          'X-Has-More': String(next !== null),
          ...(next && {
            'X-Next-Cursor': cursorText(next),
            ...linkTo(req, { cursor: cursorText(next), offset: offset - skipped || null }),
          }),
        },
      );
    },

    streamRun: async (call) => {
      await engine.stream(call.req, call.res, await runOf(deps, call), 'all', wording);
    },

    streamRunEvents: async (call) => {
      const include = call.query.logs ? 'all' : 'no-logs';
      await engine.stream(call.req, call.res, await runOf(deps, call), include, wording);
    },

    streamRunLogs: async (call) => {
      await engine.stream(call.req, call.res, await runOf(deps, call), 'logs', wording);
    },
  };
}
