/**
 * Ends runs and stores their events in one statement.
 *
 * Everything that belongs to an ending commits together: the status (by compare-and-set on status and attempt), the
 * output, the closing events, the outbox event, and the waking of a run that waits for this one. Any part may be sent
 * again: events conflict on their number, a run that has ended is no longer `running`, and closing events are stored
 * only with the winning ending.
 *
 * An ending that the run's retry policy covers does not end it: in the same statement it is suspended until its next
 * try.
 */
import {
  newId,
  OUTBOX_INSERT,
  type RunError,
  type RunErrorCode,
  rehearsalFinished,
  runFinished,
  type SandboxInfo,
} from '@gantry/events';
import { createRowSet, createStatement, type Sql } from '@gantry/postgres';
import { type IdleStatus, REHEARSAL, type Run, type TerminalStatus } from '../run';
import type { NewEvent } from '../run-events';
import { RUN_COLUMNS, toRun } from '../run-row';
import type { RunAssignment } from '../run-tokens';

export interface AttemptResult extends Pick<RunAssignment, 'runId' | 'attempt'> {
  /** The executor that reports it, and must hold the run; null: the service itself decides. */
  executorId: string | null;
  /** The status that the run must still have. */
  from: 'running' | IdleStatus;
  status: TerminalStatus;
  output?: unknown;
  outputKey?: string;
  error?: RunError;
  /** Measured in this attempt, like cpuMs and maxRssBytes. */
  costUsd: number;
  cpuMs: number | null;
  maxRssBytes: number | null;
  sandbox?: SandboxInfo;
  at: Date;
  /** Number of its event. */
  seq: number;
}

interface AttemptReport extends Pick<RunAssignment, 'runId' | 'attempt'> {
  events: NewEvent[];
}

/** Errors that a retry cannot fix. */
const nonRetriableCodes: RunErrorCode[] = [
  'missing_secret',
  'missing_connection',
  'invalid_inputs',
  'approval_rejected',
  'budget_exceeded',
  'turns_exceeded',
  'cancelled',
];

function isRetriable({ from, status, error }: AttemptResult): boolean {
  if (from !== 'running' || (status !== 'failed' && status !== 'timed_out')) return false;
  // Code whose steps differ from the recorded ones will differ again.
  return !error || (!nonRetriableCodes.includes(error.code) && error.type !== 'CodeChanged');
}

const ERROR_MESSAGE_MAX = 1_000;

/** Text columns and jsonb refuse NUL. */
const sanitizeText = (text: string | undefined) => text?.slice(0, ERROR_MESSAGE_MAX).replaceAll('\0', '') ?? null;

const WILL_RETRY = '(f.retriable AND r.retries_left > 0 AND r.cancel_requested_at IS NULL)';
const BACKOFF_MS = `least((r.retry ->> 'backoffMsMax')::float8,
  (r.retry ->> 'backoffMs')::float8 * power((r.retry ->> 'factor')::float8, least(r.retries_used, 30)))`;
const buildIsoSql = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const toJsonText = (value: unknown) => (value === undefined ? null : JSON.stringify(value));

const EVENT_ROWS = createRowSet<NewEvent & { runId: string; attempt: number }>('e', {
  run_id: ['text', (e) => e.runId],
  attempt: ['int', (e) => e.attempt],
  seq: ['bigint', (e) => e.seq],
  at: ['timestamptz', (e) => e.at],
  type: ['text', (e) => e.type],
  data: ['text', (e) => JSON.stringify(e.data)],
  closes: ['boolean', (e) => e.closes],
});

const ENDING_ROWS = createRowSet<AttemptResult>('f', {
  run_id: ['text', (f) => f.runId],
  attempt: ['int', (f) => f.attempt],
  executor_id: ['text', (f) => f.executorId],
  was: ['text', (f) => f.from],
  status: ['text', (f) => f.status],
  output: ['text', (f) => toJsonText(f.status === 'completed' && !f.outputKey ? (f.output ?? null) : undefined)],
  output_key: ['text', (f) => f.outputKey ?? null],
  error: ['text', (f) => toJsonText(f.error)],
  error_code: ['text', (f) => f.error?.code ?? null],
  error_message: ['text', (f) => sanitizeText(f.error?.message)],
  retriable: ['boolean', isRetriable],
  cost_usd: ['float8', (f) => f.costUsd],
  cpu_ms: ['float8', (f) => f.cpuMs],
  max_rss_bytes: ['bigint', (f) => f.maxRssBytes],
  sandbox: ['text', (f) => toJsonText(f.sandbox)],
  at: ['timestamptz', (f) => f.at],
  seq: ['bigint', (f) => f.seq],
  event_id: ['text', () => newId('evt_')],
});

const STARTED_ROWS = createRowSet<RunAssignment>('b', {
  run_id: ['text', (b) => b.runId],
  attempt: ['int', (b) => b.attempt],
  executor_id: ['text', (b) => b.executorId],
});

const SETTLE = createStatement(
  'settle-runs',
  `
  WITH e AS (
    SELECT * FROM ${EVENT_ROWS.sql}
  ), f AS (
    SELECT * FROM ${ENDING_ROWS.sql}
  ), ended AS (
    UPDATE runs r SET status = CASE WHEN ${WILL_RETRY} THEN 'suspended' ELSE f.status END,
      output = f.output::json, error = CASE WHEN ${WILL_RETRY} THEN NULL ELSE f.error::json END,
      output_key = CASE WHEN starts_with(f.output_key, r.workspace_id || '/runs/' || r.id || '/') THEN f.output_key END,
      cost_usd = r.cost_usd + f.cost_usd, max_rss_bytes = greatest(r.max_rss_bytes, f.max_rss_bytes),
      sandbox = coalesce(f.sandbox::json, r.sandbox),
      cpu_ms = CASE WHEN f.cpu_ms IS NULL THEN r.cpu_ms ELSE coalesce(r.cpu_ms, 0) + f.cpu_ms END,
      finished_at = CASE WHEN ${WILL_RETRY} THEN NULL ELSE greatest(f.at, r.created_at) END,
      confirmed = true, lease_expires_at = NULL, executor_id = CASE WHEN ${WILL_RETRY} THEN NULL ELSE r.executor_id END,
      wake_at = CASE WHEN ${WILL_RETRY} THEN now() + make_interval(secs => ${BACKOFF_MS} / 1000) END,
      suspension = CASE WHEN ${WILL_RETRY} THEN json_build_object('kind', 'retry', 'error', f.error::json) END,
      retries_left = CASE WHEN ${WILL_RETRY} THEN r.retries_left - 1 ELSE r.retries_left END,
      retries_used = CASE WHEN ${WILL_RETRY} THEN r.retries_used + 1 ELSE r.retries_used END
    FROM f WHERE r.id = f.run_id AND r.attempt = f.attempt AND r.status = f.was
      AND (f.executor_id IS NULL OR r.executor_id = f.executor_id)
    RETURNING ${RUN_COLUMNS}, f.event_id, f.error_code, f.error_message, f.error AS told, f.at AS told_at, f.seq AS told_seq
  ), kept AS (
    INSERT INTO run_events (run_id, seq, at, type, data)
    SELECT e.run_id, e.seq, e.at, e.type, e.data::json FROM e JOIN runs r ON r.id = e.run_id AND r.attempt >= e.attempt
    WHERE NOT e.closes OR (e.run_id, e.attempt) IN (SELECT id, attempt FROM ended WHERE status <> 'suspended')
    UNION ALL
    SELECT id, told_seq, told_at, 'status', json_build_object('status', 'queued', 'error', told::json, 'retry_at', ${buildIsoSql('wake_at')},
      'waiting_for', json_build_object('kind', 'retry', 'until', ${buildIsoSql('wake_at')}, 'run_id', NULL))
    FROM ended WHERE status = 'suspended'
    ON CONFLICT DO NOTHING
  ), begun AS (
    UPDATE runs r SET confirmed = true FROM ${STARTED_ROWS.sql}
    WHERE r.id = b.run_id AND r.attempt = b.attempt AND r.executor_id = b.executor_id AND r.status = 'running' AND NOT r.confirmed
  ), called AS (
    UPDATE runs p SET wake_at = now()
    FROM ended c JOIN run_steps s ON s.ref = c.id AND s.run_id = c.parent_run_id AND s.status = 'pending'
    WHERE p.id = c.parent_run_id AND p.status = 'suspended' AND c.status <> 'suspended'
  ), announced AS (
    ${OUTBOX_INSERT}
    SELECT event_id, '${runFinished.type}', workspace_id, traceparent, jsonb_build_object(
      'runId', id, 'source', $source::text, 'subjectId', subject_id, 'subjectRef', subject_ref, 'trigger', trigger, 'status', status,
      'errorCode', error_code, 'errorMessage', error_message, 'costUsd', cost_usd, 'cpuMs', cpu_ms, 'depth', depth,
      'durationMs', CASE WHEN started_at IS NULL THEN NULL ELSE greatest(0, round(extract(epoch FROM finished_at - started_at) * 1000))::bigint END,
      'finishedAt', floor(extract(epoch FROM finished_at) * 1000)::bigint)
      || CASE WHEN spec -> 'skills' IS NULL THEN '{}' ELSE jsonb_build_object('skills', spec -> 'skills') END
    FROM ended WHERE kind = 'run' AND status <> 'suspended'
    UNION ALL
    SELECT event_id, '${rehearsalFinished.type}', workspace_id, traceparent, jsonb_build_object('runId', id, 'subjectId', subject_id, 'status', status)
    FROM ended WHERE trigger = '${REHEARSAL}' AND status <> 'suspended'
  )
  SELECT * FROM ended`,
);

/**
 * @returns the runs that this call ended, or suspended until their retry (status `suspended`); the others had already
 *   ended, or are on another attempt
 */
export async function settleRuns(
  sql: Sql,
  source: string,
  reports: AttemptReport[],
  endings: AttemptResult[],
  started: RunAssignment[],
): Promise<Run[]> {
  const events = reports.flatMap(({ runId, attempt, events }) => events.map((event) => ({ ...event, runId, attempt })));
  const { rows } = await sql.query(
    SETTLE({ source, ...EVENT_ROWS.params(events), ...ENDING_ROWS.params(endings), ...STARTED_ROWS.params(started) }),
  );
  return rows.map(toRun);
}
