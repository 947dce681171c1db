/**
 * A run's own log of what happened, as clients see it.
 *
 * seq = attempt * 1,000,000 + the executor's number within the attempt. Gapless within an attempt, so that a reader
 * knows when it has missed something, until the last two: `output` (or `status`) and `done`. Where the service ends a run
 * itself, without an executor, those two take numbers that no executor reaches.
 */
import type { RunEvent, RunEventBatch } from '@gantry/events';
import type { Pool } from 'pg';
import { isTerminal, type Run } from './run';

export interface StoredEvent {
  seq: number;
  at: Date;
  type: 'status' | 'log' | 'progress' | 'artifact' | 'cost' | 'output' | 'done';
  data: unknown;
}

/** An event on its way to the table. `closes`: part of an ending, kept only if that ending counts. */
export interface NewEvent extends StoredEvent {
  closes: boolean;
}

export const ATTEMPT_SPAN = 1_000_000;
/** Numbers that executors use end here. */
const SERVICE_SEQ = ATTEMPT_SPAN - 10;

export const seqOf = (attempt: number, number: number): number =>
  attempt * ATTEMPT_SPAN + Math.min(number, SERVICE_SEQ - 1);

/** What an executor reported, as rows. The terminal event makes two. */
export function toNewEvents(batch: RunEventBatch): NewEvent[] {
  return batch.events.flatMap((event) => {
    const seq = seqOf(batch.attempt, event.seq);
    const at = new Date(event.at);
    if (event.type === 'finished') return event.status === 'returned' ? [] : closing(seq, at, event);
    return [{ seq, at, ...openEvent(event), closes: false }];
  });
}

/** `progress`, `log` and the like: what happens while a run goes on. */
export function openEvent(event: Exclude<RunEvent, { type: 'finished' }>): Pick<StoredEvent, 'type' | 'data'> {
  switch (event.type) {
    case 'started':
      return { type: 'status', data: { status: 'running' } };
    case 'log': {
      const { stream, level, text, fields } = event;
      return { type: 'log', data: { stream, level, text, ...(fields && { fields }) } };
    }
    case 'progress':
      return { type: 'progress', data: { fraction: event.fraction, message: event.message } };
    case 'artifact': {
      const { artifactId, name, contentType, size, sha256 } = event;
      return { type: 'artifact', data: { id: artifactId, name, contentType, size, sha256 } };
    }
    case 'cost':
      return { type: 'cost', data: { usd: event.usd, label: event.label } };
  }
}

type Ending = Pick<Extract<RunEvent, { type: 'finished' }>, 'status' | 'output' | 'outputKey' | 'error'>;

function closing(seq: number, at: Date, { status, output, outputKey, error }: Ending): NewEvent[] {
  const last: StoredEvent =
    status === 'completed'
      ? { seq, at, type: 'output', data: outputKey ? { stored: true } : { output: output ?? null } }
      : { seq, at, type: 'status', data: { status, error: error ?? null } };
  const done: StoredEvent = { seq: seq + 1, at, type: 'done', data: { status } };
  return [last, done].map((event) => ({ ...event, closes: true }));
}

/** The two last events of a run that the service itself ends. */
export const serviceClosing = (attempt: number, at: Date, ending: Ending): NewEvent[] =>
  closing(attempt * ATTEMPT_SPAN + SERVICE_SEQ, at, ending);

export async function readEvents(pool: Pool, runId: string, after: number, limit: number): Promise<StoredEvent[]> {
  const { rows } = await pool.query({
    name: 'read-run-events',
    text: 'SELECT seq::float8 AS seq, at, type, data FROM run_events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3',
    values: [runId, after, limit],
  });
  return rows;
}

const LOG_TEXT_BYTES_MAX = 256 * 1024;

/**
 * True if `next` follows `last` with nothing missing between them. Replicas write a run's batches in any order, so that a
 * later event may be in the table before an earlier one.
 */
export function follows(last: number, next: number): boolean {
  const number = next % ATTEMPT_SPAN;
  if (number >= SERVICE_SEQ) return true;
  const sameAttempt = Math.floor(last / ATTEMPT_SPAN) === Math.floor(next / ATTEMPT_SPAN);
  return sameAttempt ? next === last + 1 : number === 1;
}

/** How long a missing event is waited for before it is taken for lost. */
export const GAP_MS = 5_000;
const GAP_POLL_MS = 50;

/** stdout, stderr and context.log() of the last attempt as one text, cut at the front beyond 256 KB. */
export async function readLogsText(pool: Pool, run: Run): Promise<string> {
  const first = run.attempt * ATTEMPT_SPAN;
  for (let waited = 0; ; waited += GAP_POLL_MS) {
    const { rows } = await pool.query({
      name: 'read-run-logs',
      text: 'SELECT seq::float8 AS seq, type, data FROM run_events WHERE run_id = $1 AND seq >= $2 ORDER BY seq',
      values: [run.id, first],
    });
    const whole = rows.every((row, i) => follows(i ? rows[i - 1].seq : 0, row.seq));
    if (whole || !isTerminal(run.status) || waited >= GAP_MS) {
      return joinLogs(rows.flatMap((row) => (row.type === 'log' ? [row.data.text as string] : [])));
    }
    await new Promise((resolve) => setTimeout(resolve, GAP_POLL_MS));
  }
}

export function joinLogs(lines: string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  return text.length > LOG_TEXT_BYTES_MAX ? `[...]\n${text.slice(-LOG_TEXT_BYTES_MAX)}` : text;
}
