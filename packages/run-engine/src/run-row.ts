import { randomBytes } from 'node:crypto';
import { conflict } from '@gantry/errors';
import { buildWorkspaceClosedSql } from '@gantry/events';
import { buildMarkKeySql, keyLostError, toHeldKeyParams } from '@gantry/limits';
import { createRowSet, createStatement, type Sql, type Statement } from '@gantry/postgres';
import { startSpan } from '@gantry/tracing';
import { type NewRun, type Run, type RunKind, type RunStatus, SubjectChangedError } from './run';

export const RUN_COLUMNS = `r.id, r.workspace_id, r.subject_id, r.subject_ref, r.parent_run_id, r.depth, r.kind, r.trigger,
  r.version, r.status, r.priority, r.attempt, r.retries_used, r.retries_left, r.wake_at, r.suspension, r.slot_key, r.inputs, r.spec, r.runner, r.output,
  r.output_key, r.error, r.cost_usd, r.cpu_ms, r.max_rss_bytes, r.sandbox, r.created_by, r.cancel_requested_at, r.executor_id, r.request_id, r.traceparent, r.created_at, r.started_at, r.finished_at`;

// biome-ignore lint/suspicious/noExplicitAny: a row of RUN_COLUMNS, typed here once
export function toRun(row: any): Run {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    subjectId: row.subject_id,
    subjectRef: row.subject_ref,
    parentRunId: row.parent_run_id,
    depth: row.depth,
    kind: row.kind,
    trigger: row.trigger,
    version: row.version,
    status: row.status,
    priority: row.priority,
    attempt: row.attempt,
    tries: 1 + row.retries_used,
    retriesLeft: row.retries_left,
    wakeAt: row.wake_at,
    suspension: row.suspension,
    slotKey: row.slot_key,
    inputs: row.inputs,
    spec: { ...row.spec, runner: row.runner },
    output: row.output,
    outputKey: row.output_key,
    error: row.error,
    costUsd: row.cost_usd,
    cpuMs: row.cpu_ms,
    maxRssBytes: row.max_rss_bytes === null ? null : Number(row.max_rss_bytes),
    sandbox: row.sandbox,
    createdBy: row.created_by,
    cancelRequestedAt: row.cancel_requested_at,
    executorId: row.executor_id,
    requestId: row.request_id,
    traceparent: row.traceparent,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

/** The initial lease of a run when an executor was already waiting. */
export interface FirstLease {
  executorId: string;
  leaseMs: number;
}

/** A run before its insertion. */
export interface NewRow {
  made: Run;
  run: NewRun;
  lease: FirstLease | null;
  /** JSON. */
  inputs: string;
  spec: string;
}

/** @param createdRun the run as it will be stored */
export const toNewRow = (run: NewRun, lease: FirstLease | null, createdRun: Run): NewRow => ({
  made: createdRun,
  run,
  lease,
  inputs: JSON.stringify(createdRun.inputs),
  // The runner has its own column, which the queue's indexes use.
  spec: JSON.stringify({ ...createdRun.spec, runner: undefined }),
});

/**
 * Columns of a new run, with their types; each is a parameter of the same name. Claims and leases use the database's
 * clock: see below.
 */
const NEW_COLUMNS: Record<string, [type: string, value: (row: NewRow) => unknown]> = {
  id: ['text', ({ made }) => made.id],
  workspace_id: ['text', ({ made }) => made.workspaceId],
  subject_id: ['text', ({ made }) => made.subjectId],
  subject_ref: ['text', ({ made }) => made.subjectRef],
  parent_run_id: ['text', ({ made }) => made.parentRunId],
  depth: ['smallint', ({ made }) => made.depth],
  kind: ['text', ({ made }) => made.kind],
  trigger: ['text', ({ made }) => made.trigger],
  version: ['int', ({ made }) => made.version],
  status: ['text', ({ made }) => made.status],
  priority: ['smallint', ({ made }) => made.priority],
  attempt: ['int', ({ made }) => made.attempt],
  retries_left: ['int', ({ made }) => made.retriesLeft],
  retry: ['json', ({ run: { retry } }) => (retry?.max ? JSON.stringify(retry) : null)],
  executor_id: ['text', ({ made }) => made.executorId],
  inputs: ['json', ({ inputs }) => inputs],
  spec: ['json', ({ spec }) => spec],
  runner: ['text', ({ made }) => made.spec.runner],
  slot_key: ['text', ({ made }) => made.slotKey],
  slot_limit: ['int', ({ run }) => run.slot?.limit ?? null],
  scheduled_for: ['timestamptz', ({ run }) => run.scheduledFor ?? null],
  created_by: ['text', ({ made }) => made.createdBy],
  request_id: ['text', ({ made }) => made.requestId],
  traceparent: ['text', ({ made }) => made.traceparent],
  created_at: ['timestamptz', ({ made }) => made.createdAt],
  started_at: ['timestamptz', ({ made }) => made.startedAt],
};
const LEASE_SECONDS: [type: string, value: (row: NewRow) => unknown] = [
  'float8',
  ({ lease }) => lease && lease.leaseMs / 1_000,
];

const newColumns = Object.entries(NEW_COLUMNS);
/** Builds the SQL of columns that are compared with the database's clock. */
const buildClockColumns = (leaseSeconds: string) => ({
  available_at: 'now()',
  lease_expires_at: `now() + make_interval(secs => ${leaseSeconds})`,
});
const clockValues = Object.values(buildClockColumns('$lease_seconds::float8'));
const columnNames = [...newColumns.map(([name]) => name), ...Object.keys(buildClockColumns(''))];
const columnValues = [...newColumns.map(([name]) => `$${name}`), ...clockValues];
const IS_OPEN = `NOT ${buildWorkspaceClosedSql('$workspace_id')}`;

/** Builds a statement that inserts a run if the condition holds and the workspace is not closed. */
const buildInsertSql = (condition: string) => `
  INSERT INTO runs (${columnNames.join(', ')})
  SELECT ${columnValues.join(', ')}
  WHERE ${condition} AND ${IS_OPEN}
  ON CONFLICT (subject_id, scheduled_for) WHERE scheduled_for IS NOT NULL DO NOTHING`;
const INSERT = createStatement('insert-run', buildInsertSql('true'));

/** Builds a statement that inserts the run and marks the request's Idempotency-Key, or does neither. */
const buildInsertWithKeySql = (condition: string) => `
  WITH marked AS (${buildMarkKeySql({ madeId: '$id', workspaceId: '$workspace_id', condition: `${condition} AND ${IS_OPEN}` })})
  ${buildInsertSql('EXISTS (SELECT FROM marked)')}`;
const INSERT_WITH_KEY = createStatement('insert-run-with-key', buildInsertWithKeySql('true'));

/** SQL condition: the run's subject is unchanged; with $workspace_id, $subject_id and $version of the run. */
export type IsCurrentSql = string;

/** Each service has one condition. */
const conditionalInsertStatements = new Map<IsCurrentSql, { plain: Statement; withKey: Statement }>();

function getConditionalInsertStatements(isCurrent: IsCurrentSql) {
  const statements = conditionalInsertStatements.get(isCurrent) ?? {
    plain: createStatement('insert-current-run', buildInsertSql(isCurrent)),
    withKey: createStatement('insert-current-run-with-key', buildInsertWithKeySql(isCurrent)),
  };
  conditionalInsertStatements.set(isCurrent, statements);
  return statements;
}

/**
 * Creates an id of the run's creation time in seconds (ten digits), and 11 random characters (66 bits). Events are
 * partitioned by ranges of these ids; digits alone have the same order in every collation.
 */
export function newRunId(kind: RunKind, at: Date): string {
  const second = String(Math.floor(at.getTime() / 1_000)).padStart(10, '0');
  return `${kind === 'test' ? 'tr_' : 'run_'}${second}${randomBytes(9).toString('base64url').slice(0, 11)}`;
}

/** Parses a run's creation time from its id; null for ids of earlier releases. */
export function parseCreatedAt(runId: string): Date | null {
  const second = /^(?:run|tr)_(\d{10})[\w-]{11}$/.exec(runId)?.[1];
  return second ? new Date(Number(second) * 1_000) : null;
}

/** Starts a trace for a run without a request, such as one of a schedule. */
function createTrace({ trigger }: NewRun): string | undefined {
  const span = startSpan('submit', { kind: 'producer', attributes: { 'gantry.trigger': trigger } });
  span?.end();
  return span?.traceparent;
}

/** Builds the run as it will be stored. */
export function buildRun(run: NewRun, lease: FirstLease | null): Run {
  const status: RunStatus = run.held ? 'pending_approval' : lease ? 'running' : 'queued';
  const now = new Date();
  return {
    id: newRunId(run.kind, now),
    workspaceId: run.workspaceId,
    subjectId: run.subjectId,
    subjectRef: run.subjectRef ?? null,
    parentRunId: run.parentRunId ?? null,
    depth: run.depth ?? 0,
    kind: run.kind,
    trigger: run.trigger,
    version: run.version,
    status,
    priority: run.priority ?? 0,
    attempt: lease ? 1 : 0,
    tries: 1,
    retriesLeft: run.retry?.max ?? 0,
    wakeAt: null,
    suspension: null,
    slotKey: run.slot?.key ?? null,
    inputs: run.inputs,
    spec: run.spec,
    output: null,
    outputKey: null,
    error: null,
    costUsd: 0,
    cpuMs: null,
    maxRssBytes: null,
    sandbox: null,
    createdBy: run.createdBy,
    cancelRequestedAt: null,
    executorId: lease?.executorId ?? null,
    requestId: run.requestId ?? null,
    traceparent: run.traceparent ?? createTrace(run) ?? null,
    createdAt: now,
    startedAt: lease ? now : null,
    finishedAt: null,
  };
}

const NEW_ROWS = createRowSet<NewRow>('n', {
  ...NEW_COLUMNS,
  lease_seconds: LEASE_SECONDS,
  only_if_current: ['boolean', ({ run }) => run.onlyIfCurrent === true],
});

/**
 * Creates an insert of several runs, each under its own conditions.
 * @param isCurrent the condition of `onlyIfCurrent`
 * @returns a function that inserts runs without an Idempotency-Key, and resolves with the ids of those inserted
 */
export function createRunsInserter(
  isCurrent: IsCurrentSql = 'false',
): (sql: Sql, rows: NewRow[]) => Promise<Set<string>> {
  const names = newColumns.map(([name]) => `n.${name}`);
  const values = [...names, ...Object.values(buildClockColumns('n.lease_seconds'))];
  const insert = createStatement(
    'insert-runs',
    `INSERT INTO runs (${columnNames.join(', ')})
     SELECT ${values.join(', ')} FROM ${NEW_ROWS.sql}
     WHERE (NOT n.only_if_current OR ${isCurrent.replace(/\$(\w+)/g, 'n.$1')}) AND NOT ${buildWorkspaceClosedSql('n.workspace_id')}
     ON CONFLICT (subject_id, scheduled_for) WHERE scheduled_for IS NOT NULL DO NOTHING
     RETURNING id`,
  );
  return async (sql, rows) => {
    const written = await sql.query(insert(NEW_ROWS.params(rows)));
    return new Set(written.rows.map(({ id }) => id));
  };
}

function selectInsertStatement({ onlyIfCurrent, idempotencyKey }: NewRun, isCurrent: IsCurrentSql): Statement {
  const { plain, withKey } = onlyIfCurrent
    ? getConditionalInsertStatements(isCurrent)
    : { plain: INSERT, withKey: INSERT_WITH_KEY };
  return idempotencyKey ? withKey : plain;
}

/**
 * @param isCurrent the condition of `onlyIfCurrent`
 * @returns null when this subject already has a run for `scheduledFor`, or that time came in a closed workspace
 * @throws SubjectChangedError; AppError 409 in a closed workspace, and where another request has the Idempotency-Key
 * by now
 */
export async function insertRun(
  sql: Sql,
  run: NewRun,
  lease: FirstLease | null,
  isCurrent: IsCurrentSql = 'false',
): Promise<Run | null> {
  return insertBuiltRun(sql, toNewRow(run, lease, buildRun(run, lease)), isCurrent);
}

/** Inserts a run whose row is already built. */
export async function insertBuiltRun(sql: Sql, row: NewRow, isCurrent: IsCurrentSql = 'false'): Promise<Run | null> {
  const { run, made } = row;
  const params = newColumns.map(([name, [, value]]) => [name, value(row)]);
  const { rowCount } = await sql.query(
    selectInsertStatement(
      run,
      isCurrent,
    )({
      ...Object.fromEntries(params),
      lease_seconds: LEASE_SECONDS[1](row),
      ...(run.idempotencyKey && toHeldKeyParams(run.idempotencyKey)),
    }),
  );
  if (rowCount) return made;
  if (run.scheduledFor && !run.onlyIfCurrent && !run.idempotencyKey) return null;
  throw notInsertedError(run);
}

/** Returns the reason why the statement has not inserted a run. */
export function notInsertedError({ onlyIfCurrent, idempotencyKey }: NewRun): Error {
  // If the subject has changed, the caller retries without the condition: then the key is the reason.
  if (onlyIfCurrent) return new SubjectChangedError();
  return idempotencyKey ? keyLostError() : conflict('workspace_deleted', 'this workspace was deleted');
}
