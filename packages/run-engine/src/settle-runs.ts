/**
 * The one statement that ends runs and keeps their events.
 *
 * Everything that belongs to an ending commits together: the status (by compare-and-set on status and attempt), the
 * output, the closing events, and the announcement in the outbox. Any part may be sent again: events conflict on their
 * number, a run that has ended is no longer `running`, and closing events are kept only with the ending that won.
 */
import { newId, type RunError, runFinished } from '@gantry/events';
import type { Run, RunStatus } from './run';
import type { NewEvent } from './run-events';
import { RUN_COLUMNS, type Sql, toRun } from './run-row';

export interface Ending {
  runId: string;
  attempt: number;
  /** The status that the run must still have. */
  from: 'queued' | 'running';
  status: Exclude<RunStatus, 'queued' | 'running'>;
  output?: unknown;
  outputKey?: string;
  error?: RunError;
  costUsd: number;
  cpuMs: number | null;
  maxRssBytes: number | null;
  at: Date;
}

export interface Report {
  runId: string;
  attempt: number;
  events: NewEvent[];
}

const SETTLE = `
  WITH e AS (
    SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $22::boolean[])
      AS e(run_id, attempt, seq, at, type, data, closes)
  ), f AS (
    SELECT * FROM unnest($7::text[], $8::int[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
                         $14::float8[], $15::float8[], $16::bigint[], $17::timestamptz[], $18::text[])
      AS f(run_id, attempt, was, status, output, output_key, error, cost_usd, cpu_ms, max_rss_bytes, at, event_id)
  ), ended AS (
    UPDATE runs r SET status = f.status, output = f.output::json, error = f.error::json, cost_usd = f.cost_usd,
      output_key = CASE WHEN starts_with(f.output_key, r.workspace_id || '/runs/' || r.id || '/') THEN f.output_key END,
      cpu_ms = f.cpu_ms, max_rss_bytes = f.max_rss_bytes, finished_at = greatest(f.at, r.created_at), confirmed = true, lease_expires_at = NULL
    FROM f WHERE r.id = f.run_id AND r.attempt = f.attempt AND r.status = f.was
    RETURNING ${RUN_COLUMNS}, f.event_id
  ), kept AS (
    INSERT INTO run_events (run_id, seq, at, type, data)
    SELECT e.run_id, e.seq, e.at, e.type, e.data::json FROM e JOIN runs r ON r.id = e.run_id AND r.attempt = e.attempt
    WHERE NOT e.closes OR e.run_id IN (SELECT id FROM ended)
    ON CONFLICT DO NOTHING
  ), begun AS (
    UPDATE runs r SET confirmed = true FROM unnest($19::text[], $20::int[]) AS b(run_id, attempt)
    WHERE r.id = b.run_id AND r.attempt = b.attempt AND r.status = 'running' AND NOT r.confirmed
  ), announced AS (
    INSERT INTO outbox (id, type, workspace_id, traceparent, data)
    SELECT event_id, '${runFinished.subject}', workspace_id, traceparent, jsonb_build_object(
      'runId', id, 'source', $21::text, 'subjectId', subject_id, 'status', status, 'errorCode', error ->> 'code',
      'durationMs', CASE WHEN started_at IS NULL THEN NULL ELSE greatest(0, round(extract(epoch FROM finished_at - started_at) * 1000))::bigint END,
      'finishedAt', floor(extract(epoch FROM finished_at) * 1000)::bigint)
    FROM ended WHERE kind = 'run'
  )
  SELECT * FROM ended`;

/** @returns the runs that this call ended; the others had ended before, or are on another attempt. */
export async function settleRuns(
  sql: Sql,
  source: string,
  reports: Report[],
  endings: Ending[],
  begun: { runId: string; attempt: number }[],
): Promise<Run[]> {
  const events = reports.flatMap((report) => report.events.map((event) => ({ ...event, ...report })));
  const column = <T, V>(rows: T[], value: (row: T) => V) => rows.map(value);
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const { rows } = await sql.query({
    name: 'settle-runs',
    text: SETTLE,
    values: [
      column(events, (e) => e.runId),
      column(events, (e) => e.attempt),
      column(events, (e) => e.seq),
      column(events, (e) => e.at),
      column(events, (e) => e.type),
      column(events, (e) => JSON.stringify(e.data)),
      column(endings, (f) => f.runId),
      column(endings, (f) => f.attempt),
      column(endings, (f) => f.from),
      column(endings, (f) => f.status),
      column(endings, (f) => json(f.status === 'completed' && !f.outputKey ? (f.output ?? null) : undefined)),
      column(endings, (f) => f.outputKey ?? null),
      column(endings, (f) => json(f.error)),
      column(endings, (f) => f.costUsd),
      column(endings, (f) => f.cpuMs),
      column(endings, (f) => f.maxRssBytes),
      column(endings, (f) => f.at),
      column(endings, () => newId('evt_')),
      column(begun, (b) => b.runId),
      column(begun, (b) => b.attempt),
      source,
      column(events, (e) => e.closes),
    ],
  });
  return rows.map(toRun);
}
