/**
 * Streams log lines of runs. Their texts come from user code and are in `json` columns, which PostgreSQL cannot query
 * if they contain a NUL: it selects the lines, and they are searched here.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { logLevels } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import { EVENT_PAGE_SIZE, streamEvents } from './read-events';

export type LogLevel = (typeof logLevels)[number];

export interface LogLine {
  /** Number of the event within its run. */
  seq: number;
  at: Date;
  data: { stream: string; level: LogLevel; text: string; fields?: Record<string, unknown> };
}

export interface LogFilter {
  /** This level and those above. */
  level?: LogLevel | undefined;
  /** Part of the text, whatever its case. */
  search?: string | undefined;
}

/** Texts and fields of lines on one page: serializing it to JSON blocks the event loop. */
export const LOG_PAGE_CHARS_MAX = 2 * 1024 * 1024;
/** Text that is searched, or written, before yielding to other requests. */
const YIELD_CHARS = 512 * 1024;

/** Streams a run's lines after `after`, in order, with one page in memory at a time. */
export const streamLogLines = (sql: Sql, runId: string, after = 0): AsyncGenerator<LogLine> =>
  yieldBetweenChunks(streamEvents(sql, { runId, type: 'log', after }));

/** Returns the size of a line in JSON, without escapes. */
export const countLineChars = ({ data }: LogLine): number =>
  data.text.length + (data.fields ? JSON.stringify(data.fields).length : 0);

async function* yieldBetweenChunks(lines: AsyncIterable<LogLine>): AsyncGenerator<LogLine> {
  let chars = 0;
  for await (const line of lines) {
    chars += line.data.text.length;
    if (chars > YIELD_CHARS) {
      chars = 0;
      await nextTurn();
    }
    yield line;
  }
}

/** Streams a run's lines before `before`, newest first. */
export const streamLogLinesBackwards = (sql: Sql, runId: string, before: number): AsyncGenerator<LogLine> =>
  yieldBetweenChunks(streamPagesBackwards(sql, runId, before));

async function* streamPagesBackwards(sql: Sql, runId: string, before: number): AsyncGenerator<LogLine> {
  let last = before;
  for (;;) {
    const { rows } = await sql.query<LogLine>(
      `SELECT seq::float8 AS seq, at, data FROM run_events WHERE run_id = $1 AND seq < $2 AND type = 'log'
       ORDER BY seq DESC LIMIT ${EVENT_PAGE_SIZE}`,
      [runId, last],
    );
    yield* rows;
    if (rows.length < EVENT_PAGE_SIZE) return;
    last = (rows.at(-1) as LogLine).seq;
  }
}

export function createLineMatcher({ level, search }: LogFilter): (line: LogLine) => boolean {
  const minimumLevel = level ? logLevels.indexOf(level) : 0;
  const searchText = search?.toLowerCase();
  return ({ data }) =>
    logLevels.indexOf(data.level) >= minimumLevel &&
    (searchText === undefined || data.text.toLowerCase().includes(searchText));
}
