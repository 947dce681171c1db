/** What runs say: as a list, as text, live, and over all runs of a worker. */
import { callerOf, type Operations } from '@gantry/http';
import { type LogFilter, type LogLine, matcherOf, readLines, readSubjectLog } from '@gantry/run-engine';
import { written } from '../backpressure';
import type { Deps } from '../deps';
import { queryDate } from '../query-date';
import { getVisibleWorker } from '../workers/worker-repository';
import { cursorText, readCursor } from './log-cursor';
import { lineToApi, lineToText } from './log-line';
import { runOf } from './run-of-request';

export function logOperations(deps: Deps): Operations {
  const { engine, pool, prisma } = deps;
  return {
    listRunLogs: async (req, res) => {
      const run = await runOf(deps, req);
      const query = req.query as unknown as LogFilter & { limit: number; after: number; format: 'json' | 'text' };
      const matches = matcherOf(query);
      if (query.format === 'text') {
        res.type('text/plain; charset=utf-8');
        for await (const line of readLines(pool, run.id, query.after)) {
          if (res.destroyed) return;
          if (matches(line)) await written(res, lineToText(line));
        }
        res.end();
        return;
      }
      const lines: LogLine[] = [];
      for await (const line of readLines(pool, run.id, query.after)) {
        if (!matches(line)) continue;
        lines.push(line);
        if (lines.length > query.limit) break;
      }
      const page = lines.slice(0, query.limit);
      res.set('X-Has-More', String(lines.length > query.limit));
      if (lines.length > query.limit) res.set('X-Next-After', String(page.at(-1)?.seq));
      res.json(page.map(lineToApi));
    },

    listWorkerLogs: async (req, res) => {
      const worker = await getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));
      const { q, level, since, limit, cursor } = req.query as unknown as {
        q?: string;
        level?: LogFilter['level'];
        since?: unknown;
        limit: number;
        cursor?: string;
      };
      const { lines, next } = await readSubjectLog(pool, worker.uid, {
        search: q,
        level,
        since: queryDate(since, 'since'),
        limit,
        cursor: cursor === undefined ? undefined : readCursor(cursor),
      });
      res.set('X-Has-More', String(next !== null));
      if (next) res.set('X-Next-Cursor', cursorText(next));
      res.json(lines.map(({ runId, ...line }) => ({ run_id: runId, ...lineToApi(line) })));
    },

    streamRun: async (req, res) => {
      await engine.stream(req, res, await runOf(deps, req), 'all');
    },

    streamRunEvents: async (req, res) => {
      const { logs } = req.query as { logs?: unknown };
      await engine.stream(req, res, await runOf(deps, req), logs === true ? 'all' : 'no-logs');
    },

    streamRunLogs: async (req, res) => {
      await engine.stream(req, res, await runOf(deps, req), 'logs');
    },
  };
}
