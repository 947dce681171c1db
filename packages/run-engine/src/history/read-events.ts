import type { Sql } from '@gantry/postgres';
import { removeResponse } from '../run-events';

/** Rows in memory at a time. */
export const EVENT_PAGE_SIZE = 1_000;

/** Streams a run's events of one type after `after`, in order, with one page in memory at a time. */
export async function* streamEvents<Event extends { seq: number; data: unknown }>(
  sql: Sql,
  { runId, type, after }: { runId: string; type: 'log' | 'request'; after: number },
): AsyncGenerator<Event> {
  let last = after;
  for (;;) {
    const { rows } = await sql.query<Event>(
      `SELECT seq::float8 AS seq, at, data FROM run_events WHERE run_id = $1 AND seq > $2 AND type = $3
       ORDER BY seq LIMIT ${EVENT_PAGE_SIZE}`,
      [runId, last, type],
    );
    yield* type === 'request' ? rows.map(removeResponse) : rows;
    if (rows.length < EVENT_PAGE_SIZE) return;
    last = (rows.at(-1) as Event).seq;
  }
}
