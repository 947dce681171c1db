/**
 * Converts, numbers and reads a run's events as clients see them.
 *
 * seq = attempt * 1,000,000 + the executor's number within the attempt. Gapless within an attempt, so that a reader
 * knows when it has missed something, until the last ones: `output` (or `status`) and `done`. The service's own events
 * (that the run resumes, was decided, or ended without an executor) take numbers at the end of the attempt that no
 * executor reaches; they are only written while no executor holds the run, so no earlier event follows.
 */
import { ACK_WAIT_MS, type agentParts, type ModelUsage, type RunEvent, type RunEventBatch } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import { buildRunFolder } from './object-keys';
import { isTerminal, type Run, type WaitState } from './run';

export interface StoredEvent {
  seq: number;
  at: Date;
  /** `context` is for the service and is not streamed. */
  type:
    | 'status'
    | 'log'
    | 'progress'
    | 'artifact'
    | 'step'
    | 'approval'
    | 'context'
    | 'cost'
    | 'request'
    | (typeof agentParts)[number]
    | 'output'
    | 'done';
  data: unknown;
}

/** An event that the service adds to a run that no executor holds. */
export interface ServiceEvent {
  runId: string;
  attempt: number;
  type: 'status' | 'step' | 'approval' | 'log';
  data: Record<string, unknown>;
}

/** An event on its way to the table. `closes`: part of an ending, kept only if that ending counts. */
export interface NewEvent extends StoredEvent {
  closes: boolean;
}

export const ATTEMPT_SPAN = 1_000_000;

/** Returns the attempt of the event with this number. */
export const getAttempt = (seq: number): number => Math.floor(seq / ATTEMPT_SPAN);
/** First number within an attempt that is reserved for the service. */
const SERVICE_SEQ = ATTEMPT_SPAN - 1_000;
/** The last numbers are reserved for the end. */
const SERVICE_OPEN_MAX = 990;

export const toSeq = (attempt: number, number: number): number =>
  attempt * ATTEMPT_SPAN + Math.min(number, SERVICE_SEQ - 1);

/** Converts an executor's report to events as clients see them. The terminal event becomes two. */
export function toNewEvents(batch: RunEventBatch): NewEvent[] {
  return batch.events.flatMap((event) => {
    const seq = toSeq(batch.attempt, event.seq);
    const at = new Date(event.at);
    if (event.type === 'finished') return isClosingEvent(event) ? buildClosingEvents(seq, at, event) : [];
    return [{ seq, at, ...toNonClosingEvent(event), closes: false }];
  });
}

/** Converts a report to rows, including responses that are never streamed: see removeResponse. */
export function toRows(batch: RunEventBatch): NewEvent[] {
  const answers = new Map(
    batch.events.flatMap((event) =>
      event.type === 'request' && event.answer ? [[toSeq(batch.attempt, event.seq), event.answer]] : [],
    ),
  );
  const events = toNewEvents(batch);
  if (!answers.size) return events;
  return events.map((event) => {
    const answer = answers.get(event.seq);
    return answer ? { ...event, data: { ...(event.data as object), answer } } : event;
  });
}

/** Removes the recorded response, which is for rehearsals only. */
export function removeResponse<Event extends { data: unknown }>(event: Event): Event {
  if (typeof event.data !== 'object' || event.data === null || !('answer' in event.data)) return event;
  const { answer: _, ...data } = event.data;
  return { ...event, data };
}

const toApiUsage = ({ model, inputTokens, outputTokens, usd }: ModelUsage) => ({
  model,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  usd,
});

/** Converts an event of an active run, such as `progress` or `log`. */
export function toNonClosingEvent(event: Exclude<RunEvent, { type: 'finished' }>): Pick<StoredEvent, 'type' | 'data'> {
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
      return { type: 'artifact', data: { id: artifactId, name, content_type: contentType, size, sha256 } };
    }
    case 'step': {
      const { ordinal, kind, name, durationMs, usage } = event;
      return {
        type: 'step',
        data: { ordinal, kind, name, duration_ms: durationMs, ...(usage && { usage: toApiUsage(usage) }) },
      };
    }
    case 'context': {
      const { name, from, size, sha256, key } = event;
      return { type: 'context', data: { name, from, size, sha256, key } };
    }
    case 'cost':
      return { type: 'cost', data: { usd: event.usd, label: event.label } };
    case 'agent': {
      const { part, name, text, callId, piece } = event;
      return { type: part, data: { name, text, ...(callId !== undefined && { call_id: callId }), ...piece } };
    }
    case 'request': {
      const {
        type,
        seq: _seq,
        at: _at,
        bytesSent,
        bytesReceived,
        durationMs,
        problem = null,
        answer,
        ...fields
      } = event;
      const sizes = { bytes_sent: bytesSent, bytes_received: bytesReceived, duration_ms: durationMs };
      return { type, data: { ...fields, ...sizes, problem, ...(answer && { answer_recorded: true }) } };
    }
  }
}

type FinishedEvent = Extract<RunEvent, { type: 'finished' }>;
type ClosingStatus = Exclude<FinishedEvent['status'], 'returned' | 'suspended'>;

/** Returned and suspended runs continue. */
export const isClosingEvent = (event: FinishedEvent): event is FinishedEvent & { status: ClosingStatus } =>
  event.status !== 'returned' && event.status !== 'suspended';

type ClosingResult = { status: ClosingStatus | 'rejected' } & Pick<FinishedEvent, 'output' | 'outputKey' | 'error'>;

function buildClosingEvents(seq: number, at: Date, { status, output, outputKey, error }: ClosingResult): NewEvent[] {
  const last: StoredEvent =
    status === 'completed'
      ? { seq, at, type: 'output', data: outputKey ? { stored: true } : { output: output ?? null } }
      : { seq, at, type: 'status', data: { status, error: error ?? null } };
  const done: StoredEvent = { seq: seq + 1, at, type: 'done', data: { status } };
  return [last, done].map((event) => ({ ...event, closes: true }));
}

/**
 * Builds the two last events of a run that the service ends. @param lastSeq the last number that the service has used
 */
export const buildServiceClosingEvents = (lastSeq: number, at: Date, ending: ClosingResult): NewEvent[] =>
  buildClosingEvents(lastSeq + 1, at, ending);

/** Returns the number before the service's first one in an attempt. */
export const getServiceSeqBase = (attempt: number): number => attempt * ATTEMPT_SPAN + SERVICE_SEQ - 1;

/** Builds closing events for a run whose events were deleted, with numbers that are not used otherwise. */
export function buildExpiredClosingEvents({
  attempt,
  status,
  output,
  outputKey,
  error,
  finishedAt,
  createdAt,
}: Run): StoredEvent[] {
  const ending = { status: status as ClosingResult['status'], output, outputKey, error };
  return buildClosingEvents(getServiceSeqBase(attempt) + 998, finishedAt ?? createdAt, ending as ClosingResult);
}

/** Returns the last number that the service has used in this attempt. The caller has locked the run's row. */
export async function getLastServiceSeq(sql: Sql, runId: string, attempt: number): Promise<number> {
  const floor = getServiceSeqBase(attempt);
  const { rows } = await sql.query({
    text: 'SELECT max(seq)::float8 AS last FROM run_events WHERE run_id = $1 AND seq > $2 AND seq < $3',
    values: [runId, floor, floor + 1_000],
  });
  return rows[0].last ?? floor;
}

/**
 * Appends events to runs that no executor holds. The caller's transaction has locked their rows in an earlier
 * statement, which makes the numbers unique. Beyond 990 between two attempts events are dropped.
 */
export async function appendServiceEvents(sql: Sql, events: ServiceEvent[]): Promise<void> {
  if (!events.length) return;
  await sql.query({
    name: 'append-service-events',
    text: `INSERT INTO run_events (run_id, seq, at, type, data)
           SELECT e.run_id, coalesce(l.last, e.floor) + row_number() OVER (PARTITION BY e.run_id ORDER BY e.place),
             clock_timestamp(), e.type, e.data::json
           FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) WITH ORDINALITY AS e(run_id, floor, type, data, place)
           CROSS JOIN LATERAL (
             SELECT max(seq) AS last FROM run_events WHERE run_id = e.run_id AND seq > e.floor AND seq < e.floor + 1000
           ) l
           WHERE coalesce(l.last, e.floor) + e.place < e.floor + ${SERVICE_OPEN_MAX}`,
    values: [
      events.map((e) => e.runId),
      events.map((e) => getServiceSeqBase(e.attempt)),
      events.map((e) => e.type),
      events.map((e) => JSON.stringify(e.data)),
    ],
  });
}

/** Converts to the API's description of what a run waits for. */
export const toWaitingFor = (waiting: WaitState | null, wakeAt: Date | null) =>
  waiting && {
    kind: waiting.kind,
    until: wakeAt?.toISOString() ?? null,
    run_id: waiting.kind === 'call' ? waiting.runId : null,
  };

export async function loadEvents(pool: Pool, runId: string, after: number, limit: number): Promise<StoredEvent[]> {
  const { rows } = await pool.query({
    name: 'read-run-events',
    text: 'SELECT seq::float8 AS seq, at, type, data FROM run_events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3',
    values: [runId, after, limit],
  });
  return rows.map((row) => (row.type === 'request' ? removeResponse(row) : row));
}

const LOG_TEXT_BYTES_MAX = 256 * 1024;
/** Lines of earlier attempts: more usual lines would not fit into the text. */
const EARLIER_LINES_MAX = 5_000;

/**
 * Returns true if `next` follows `last` without a missing event. Replicas write a run's batches in any order, so that a
 * later event may be in the table before an earlier one.
 */
export function isConsecutive(last: number, next: number): boolean {
  const number = next % ATTEMPT_SPAN;
  if (number >= SERVICE_SEQ) return true;
  const sameAttempt = Math.floor(last / ATTEMPT_SPAN) === Math.floor(next / ATTEMPT_SPAN);
  return sameAttempt ? next === last + 1 : number === 1;
}

/**
 * Wait for a missing event before it counts as lost: longer than the redelivery of a dead replica's messages to
 * another.
 */
export const GAP_MS = ACK_WAIT_MS + 5_000;
const GAP_POLL_MS = 50;

/** Loads stdout, stderr and context.log() of all attempts as one text, truncated at the front beyond 256 KB. */
export async function loadLogsText(pool: Pool, run: Run): Promise<string> {
  const first = run.attempt * ATTEMPT_SPAN;
  const earlier = run.attempt > 1 ? await loadEarlierLines(pool, run.id, first) : [];
  for (let waited = 0; ; waited += GAP_POLL_MS) {
    const { rows } = await pool.query({
      name: 'read-run-logs',
      text: 'SELECT seq::float8 AS seq, type, data FROM run_events WHERE run_id = $1 AND seq >= $2 ORDER BY seq',
      values: [run.id, first],
    });
    const isComplete = rows.every((row, i) => isConsecutive(i ? rows[i - 1].seq : 0, row.seq));
    if (isComplete || !isTerminal(run.status) || waited >= GAP_MS) {
      return joinLogs([...earlier, ...rows.flatMap((row) => (row.type === 'log' ? [row.data.text as string] : []))]);
    }
    await new Promise((resolve) => setTimeout(resolve, GAP_POLL_MS));
  }
}

/** Loads the last lines before this number. */
async function loadEarlierLines(pool: Pool, runId: string, before: number): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT data FROM run_events WHERE run_id = $1 AND seq < $2 AND type = 'log' ORDER BY seq DESC LIMIT $3`,
    [runId, before, EARLIER_LINES_MAX],
  );
  return rows.reverse().map((row) => row.data.text as string);
}

export function joinLogs(lines: string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  return text.length > LOG_TEXT_BYTES_MAX ? `[...]\n${text.slice(-LOG_TEXT_BYTES_MAX)}` : text;
}

export type ContextChange = Omit<Extract<RunEvent, { type: 'context' }>, 'type' | 'seq' | 'at'>;

/** Loads the writeable contexts that the last attempt changed; they count only if the run completed. */
export async function loadContextChanges(pool: Pool, run: Run): Promise<ContextChange[]> {
  const { rows } = await pool.query(
    `SELECT data FROM run_events WHERE run_id = $1 AND seq >= $2 AND type = 'context' ORDER BY seq`,
    [run.id, run.attempt * ATTEMPT_SPAN],
  );
  const changes = rows.map((row) => row.data as ContextChange);
  const folder = buildRunFolder(run.workspaceId, run.id);
  return changes.filter(({ key }) => key.startsWith(`${folder}/`));
}
