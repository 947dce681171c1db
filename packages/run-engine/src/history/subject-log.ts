/** Pages through the logs of a subject, newest run and newest line first; a page reads a bounded number of both. */
import type { Sql } from '@gantry/postgres';
import type { RunCursor } from '../run';
import {
  countLineChars,
  createLineMatcher,
  LOG_PAGE_CHARS_MAX,
  type LogFilter,
  type LogLine,
  streamLogLinesBackwards,
} from './log-lines';

const RUNS_MAX = 500;
const LINES_MAX = 20_000;
const RUN_BATCH = 100;

export interface SubjectLogQuery extends LogFilter {
  /** Only runs created at or after. */
  since?: Date | undefined;
  limit: number;
  /** Matching lines to skip. */
  offset: number;
  cursor?: LogCursor | undefined;
}

/** Continues after this line of this run. */
export interface LogCursor {
  createdAt: Date;
  runId: string;
  seq: number;
}

export interface SubjectLogPage {
  lines: (LogLine & { runId: string })[];
  next: LogCursor | null;
  /** Skipped lines of `offset`: fewer if the page ended before. */
  skipped: number;
}

export async function loadSubjectLog(sql: Sql, subjectId: string, query: SubjectLogQuery): Promise<SubjectLogPage> {
  const matches = createLineMatcher(query);
  const lines: SubjectLogPage['lines'] = [];
  let position: LogCursor | undefined = query.cursor;
  let lineCount = 0;
  let skipped = 0;
  let chars = 0;
  for (let runCount = 0; runCount < RUNS_MAX; runCount += RUN_BATCH) {
    const runs = await listRunsFrom(sql, subjectId, query.since, position);
    for (const run of runs) {
      const before = position?.runId === run.id ? position.seq : Number.MAX_SAFE_INTEGER;
      for await (const line of streamLogLinesBackwards(sql, run.id, before)) {
        const isFull = lines.length === query.limit || chars > LOG_PAGE_CHARS_MAX;
        if (isFull || lineCount++ === LINES_MAX) return { lines, next: position ?? null, skipped };
        position = { createdAt: run.createdAt, runId: run.id, seq: line.seq };
        if (!matches(line)) continue;
        if (skipped < query.offset) skipped++;
        else {
          lines.push({ ...line, runId: run.id });
          chars += countLineChars(line);
        }
      }
      position = { createdAt: run.createdAt, runId: run.id, seq: 0 };
    }
    if (runs.length < RUN_BATCH) return { lines, next: null, skipped };
  }
  return { lines, next: position ?? null, skipped };
}

/** Lists runs, newest first, from the cursor's run on, inclusive. */
async function listRunsFrom(sql: Sql, subjectId: string, since: Date | undefined, cursor: LogCursor | undefined) {
  const { rows } = await sql.query<RunCursor>(
    `SELECT created_at AS "createdAt", id FROM runs
     WHERE subject_id = $1 AND kind = 'run' AND created_at >= $2 AND (created_at, id) <= ($3, $4)
     ORDER BY created_at DESC, id DESC LIMIT ${RUN_BATCH}`,
    [subjectId, since ?? '-infinity', cursor?.createdAt ?? 'infinity', cursor?.runId ?? ''],
  );
  return rows;
}
