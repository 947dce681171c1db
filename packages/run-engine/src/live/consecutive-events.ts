/** Reads a run's events from the table, up to the first missing one. */
import type { Pool } from 'pg';
import { GAP_MS, isConsecutive, loadEvents, type StoredEvent } from '../run-events';

const PAGE_SIZE = 1_000;

/** Time since which an event has been missing; 0: none is. One per reader of the table. */
export interface Gap {
  since: number;
}

/** Reads the events after `last` up to the first missing one; one that is missing for GAP_MS counts as lost. */
export async function readConsecutiveEvents(
  pool: Pool,
  runId: string,
  last: number,
  gap: Gap,
): Promise<{ events: StoredEvent[]; missing: boolean; more: boolean }> {
  const page = await loadEvents(pool, runId, last, PAGE_SIZE);
  const events: StoredEvent[] = [];
  for (const event of page) {
    if (isConsecutive(events.at(-1)?.seq ?? last, event.seq)) gap.since = 0;
    else {
      gap.since ||= Date.now();
      if (Date.now() - gap.since < GAP_MS) return { events, missing: true, more: false };
    }
    events.push(event);
    if (event.type === 'done') return { events, missing: false, more: false };
  }
  return { events, missing: false, more: page.length === PAGE_SIZE };
}

/** Guards other readers against an invented number. @returns the last existing number up to `seq`, or 0 */
export async function findLastSeqUpTo(pool: Pool, runId: string, seq: number): Promise<number> {
  if (seq <= 0) return 0;
  const { rows } = await pool.query('SELECT max(seq)::float8 AS seq FROM run_events WHERE run_id = $1 AND seq <= $2', [
    runId,
    Math.min(seq, Number.MAX_SAFE_INTEGER),
  ]);
  return rows[0].seq ?? 0;
}
