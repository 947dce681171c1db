import { isClosedSql, newId } from '@gantry/events';
import { conflict, heldKeyValues, keyLost, markKeySql } from '@gantry/http';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { type NewRun, type Run, type RunStatus, SubjectChanged } from './run';

/** A pool or a client inside a transaction. */
export interface Sql {
  query(config: QueryConfig): Promise<QueryResult>;
}

export const RUN_COLUMNS = `r.id, r.workspace_id, r.subject_id, r.subject_ref, r.parent_run_id, r.depth, r.kind, r.trigger,
  r.version, r.status, r.priority, r.attempt, r.retries_used, r.wake_at, r.suspension, r.slot_key, r.inputs, r.spec, r.runner, r.output,
  r.output_key, r.error, r.cost_usd, r.cpu_ms, r.max_rss_bytes, r.created_by, r.cancel_requested_at, r.executor_id, r.request_id, r.traceparent, r.created_at, r.started_at, r.finished_at`;

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

/** The lease that a run is born with when an executor was already waiting for it. */
export interface FirstLease {
  executorId: string;
  expiresAt: Date;
}

const IS_OPEN = `NOT ${isClosedSql('$2')}`;

/** Statement that inserts a run where the condition on its parameters holds and the workspace is not closed. */
const insertWhere = (condition: string) => `
  INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, version, status, priority, attempt, retries_left,
    executor_id, lease_expires_at, inputs, spec, scheduled_for, created_by, request_id, traceparent, created_at,
    available_at, started_at, subject_ref, parent_run_id, depth, retry, slot_key, slot_limit, runner)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $19, $20, $21, $22,
    $23, $24, $25, $26, $27
  WHERE ${condition} AND ${IS_OPEN}
  ON CONFLICT (subject_id, scheduled_for) WHERE scheduled_for IS NOT NULL DO NOTHING`;
const INSERT = { name: 'insert-run', text: insertWhere('true') };

/** The same statement marks the Idempotency-Key of the request, or does neither. */
const insertWithKey = (condition: string) => `
  WITH marked AS (${markKeySql({ madeId: '$1', workspaceId: '$2', first: 28, condition: `${condition} AND ${IS_OPEN}` })})
  ${insertWhere('EXISTS (SELECT FROM marked)')}`;
const INSERT_WITH_KEY = { name: 'insert-run-with-key', text: insertWithKey('true') };

/** Whether a subject is still what a run was made for, in SQL: $2 is its workspace, $3 the subject, $6 the version. */
export type IsCurrent = string;

/** The run as it will stand in the table. */
export function makeRun(run: NewRun, lease: FirstLease | null): Run {
  const status: RunStatus = run.held ? 'pending_approval' : lease ? 'running' : 'queued';
  const now = new Date();
  const made: Run = {
    id: newId('run_'),
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
    createdBy: run.createdBy,
    cancelRequestedAt: null,
    executorId: lease?.executorId ?? null,
    requestId: run.requestId ?? null,
    traceparent: run.traceparent ?? null,
    createdAt: now,
    startedAt: lease ? now : null,
    finishedAt: null,
  };
  if (run.kind === 'test') made.id = made.id.replace('run_', 'tr_');
  return made;
}

function insertOf({ onlyIfCurrent, idempotencyKey }: NewRun, isCurrent: IsCurrent): { name: string; text: string } {
  if (idempotencyKey) {
    return onlyIfCurrent ? { name: 'insert-current-run-with-key', text: insertWithKey(isCurrent) } : INSERT_WITH_KEY;
  }
  return onlyIfCurrent ? { name: 'insert-current-run', text: insertWhere(isCurrent) } : INSERT;
}

/**
 * @param isCurrent what `onlyIfCurrent` asks
 * @returns null when this subject already has a run for `scheduledFor`, or that time came in a closed workspace
 * @throws SubjectChanged; AppError 409 in a closed workspace, and where another request has the Idempotency-Key by now
 */
export async function insertRun(
  sql: Sql | PoolClient,
  run: NewRun,
  lease: FirstLease | null,
  isCurrent: IsCurrent = 'false',
  made: Run = makeRun(run, lease),
): Promise<Run | null> {
  const { rowCount } = await sql.query({
    ...insertOf(run, isCurrent),
    values: [
      made.id,
      made.workspaceId,
      made.subjectId,
      made.kind,
      made.trigger,
      made.version,
      made.status,
      made.priority,
      made.attempt,
      run.retry?.max ?? 0,
      lease?.executorId ?? null,
      lease?.expiresAt ?? null,
      JSON.stringify(made.inputs),
      // Its runner has a column, which the queue is indexed by.
      JSON.stringify({ ...made.spec, runner: undefined }),
      run.scheduledFor ?? null,
      made.createdBy,
      made.requestId,
      made.traceparent,
      made.createdAt,
      made.startedAt,
      made.subjectRef,
      made.parentRunId,
      made.depth,
      run.retry?.max ? JSON.stringify(run.retry) : null,
      made.slotKey,
      run.slot?.limit ?? null,
      made.spec.runner,
      ...(run.idempotencyKey ? heldKeyValues(run.idempotencyKey) : []),
    ],
  });
  // A caller whose subject has changed asks again without the condition: then it is the key.
  if (!rowCount && run.onlyIfCurrent) throw new SubjectChanged();
  if (!rowCount && run.idempotencyKey) throw keyLost();
  if (!rowCount && !run.scheduledFor) throw conflict('workspace_deleted', 'this workspace was deleted');
  return rowCount ? made : null;
}
