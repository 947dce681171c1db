/** Evaluations. One is changed by the holder of its row lock, and ends once. */

import { notFound } from '@gantry/errors';
import { addChangeHint } from '@gantry/events';
import { createUnnamedStatement, findRow, listIds, listRows, type Sql, writeRow } from '@gantry/postgres';
import { buildResultCountsSql } from '../rehearsals/count-results';
import type { WorkerKey } from '../workers/version-repository';
import { type Evaluation, type EvaluationStatus, VERDICT_STATUSES } from './evaluation';

/** Evaluations kept for a worker; older ones are deleted. */
const EVALUATIONS_PER_WORKER_MAX = 100;

const EVALUATION = `SELECT e.id, e.workspace_id AS "workspaceId", e.worker_uid AS "workerUid", e.version, e.sha, e.status, e.error,
    e.trigger, e.created_by AS "createdBy", e.created_at AS "createdAt", e.ended_at AS "endedAt", r.usd, r.totals
  FROM evaluations e CROSS JOIN LATERAL (
    SELECT coalesce(sum(usd), 0) AS usd, ${buildResultCountsSql('status', VERDICT_STATUSES)} AS totals
    FROM evaluation_results WHERE evaluation_id = e.id) r`;

/** @param sha how that of the version begins. Newest first */
export async function listEvaluations(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  { sha = '', limit, offset }: { sha?: string | undefined; limit: number; offset: number },
): Promise<{ evaluations: Evaluation[]; total: number }> {
  const of = 'WHERE e.workspace_id = $1 AND e.worker_uid = $2 AND starts_with(e.sha, $3)';
  const { rows } = await sql.query<Evaluation>(
    `${EVALUATION} ${of} ORDER BY e.created_at DESC, e.id DESC LIMIT $4 OFFSET $5`,
    [workspaceId, uid, sha, limit, offset],
  );
  const counted = await sql.query<{ count: number }>(`SELECT count(*)::int AS count FROM evaluations e ${of}`, [
    ...[workspaceId, uid, sha],
  ]);
  return { evaluations: rows, total: counted.rows[0]?.count ?? 0 };
}

/** The latest of each of these versions. */
export const listLatestByVersion = (sql: Sql, { workspaceId, uid }: WorkerKey, shas: string[]): Promise<Evaluation[]> =>
  listRows(
    sql,
    `${EVALUATION} WHERE e.id IN (SELECT DISTINCT ON (sha) id FROM evaluations
       WHERE workspace_id = $1 AND worker_uid = $2 AND sha = ANY($3) ORDER BY sha, created_at DESC, id DESC)`,
    [workspaceId, uid, shas],
  );

/** @throws AppError 404 */
export async function getEvaluation(sql: Sql, { workspaceId, uid }: WorkerKey, id: string): Promise<Evaluation> {
  const { rows } = await sql.query<Evaluation>(
    `${EVALUATION} WHERE e.workspace_id = $1 AND e.worker_uid = $2 AND e.id = $3`,
    [workspaceId, uid, id],
  );
  if (!rows[0]) throw notFound('evaluation', id, 'for this worker');
  return rows[0];
}

export async function findRunningEvaluation(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  sha: string,
): Promise<string | undefined> {
  const running = 'SELECT id FROM evaluations WHERE workspace_id = $1 AND worker_uid = $2 AND under_way = $3';
  return (await findRow<{ id: string }>(sql, running, [workspaceId, uid, sha]))?.id;
}

export type NewEvaluation = WorkerKey & Pick<Evaluation, 'id' | 'version' | 'sha' | 'trigger' | 'createdBy'>;

const INSERT = createUnnamedStatement(
  `INSERT INTO evaluations (id, workspace_id, worker_uid, version, sha, status, trigger, under_way, saved_version, created_by)
   VALUES ($id, $workspaceId, $uid, $version, $sha, 'running', $trigger, $sha, $savedVersion, $createdBy)
   ON CONFLICT DO NOTHING`,
);

/** @returns false where one of that version is under way, or its saving has started one before */
export async function insertEvaluation(tx: Sql, evaluation: NewEvaluation): Promise<boolean> {
  const { trigger, version } = evaluation;
  return writeRow(tx, INSERT({ ...evaluation, savedVersion: trigger === 'save' ? version : null }));
}

export async function deleteOldEvaluations(tx: Sql, uid: string): Promise<void> {
  await tx.query(
    `DELETE FROM evaluations WHERE status <> 'running' AND id IN
       (SELECT id FROM evaluations WHERE worker_uid = $1 ORDER BY created_at DESC, id DESC OFFSET ${EVALUATIONS_PER_WORKER_MAX})`,
    [uid],
  );
}

export type LockedEvaluation = Pick<Evaluation, 'id' | 'workspaceId' | 'workerUid' | 'version' | 'createdBy'>;

/**
 * Its row until the transaction ends; undefined where it has ended.
 * @param wait false: nor where another transaction holds it
 */
export const lockRunningEvaluation = (
  tx: Sql,
  id: string,
  { wait }: { wait: boolean },
): Promise<LockedEvaluation | undefined> =>
  findRow(
    tx,
    `SELECT id, workspace_id AS "workspaceId", worker_uid AS "workerUid", version, created_by AS "createdBy"
     FROM evaluations WHERE id = $1 AND status = 'running' FOR UPDATE ${wait ? '' : 'SKIP LOCKED'}`,
    [id],
  );

export interface EvaluationEnd {
  status: Exclude<EvaluationStatus, 'running'>;
  error?: string;
}

/** Examples that were not judged are stopped with it. @returns runs of theirs that may go on */
export async function endEvaluation(
  tx: Sql,
  { id, workspaceId }: Pick<Evaluation, 'id' | 'workspaceId'>,
  { status, error }: EvaluationEnd,
): Promise<string[]> {
  await tx.query(
    `UPDATE evaluations SET status = $2, error = $3, under_way = NULL, ended_at = now() WHERE id = $1 AND status = 'running'`,
    [id, status, error ?? null],
  );
  const { rows } = await tx.query<{ run_id: string | null; was: string }>(
    `UPDATE evaluation_results r SET status = 'stopped', leased_by = NULL, leased_until = NULL
     FROM (SELECT example_id, status AS was FROM evaluation_results WHERE evaluation_id = $1 FOR UPDATE) before
     WHERE r.evaluation_id = $1 AND r.example_id = before.example_id AND r.status IN ('pending', 'running', 'judging')
     RETURNING r.run_id, before.was`,
    [id],
  );
  addChangeHint(tx, workspaceId, 'workers');
  return rows.flatMap(({ run_id: runId, was }) => (runId !== null && was === 'running' ? [runId] : []));
}

/** Condition: an evaluation is under way. */
export const HAS_RUNNING_EVALUATIONS = "EXISTS (SELECT FROM evaluations WHERE status = 'running')";

/** Those that may start examples, or end. @param concurrency examples of one that are under way at most */
export const listAdvanceableEvaluations = (
  sql: Sql,
  { concurrency, excludedIds, limit }: { concurrency: number; excludedIds: string[]; limit: number },
): Promise<string[]> =>
  listIds(
    sql,
    `SELECT e.id FROM evaluations e CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
         count(*) FILTER (WHERE status IN ('running', 'judging')) AS under_way
       FROM evaluation_results WHERE evaluation_id = e.id) r
     WHERE e.status = 'running' AND e.id <> ALL($2) AND (r.under_way = 0 OR r.pending > 0 AND r.under_way < $1)
     ORDER BY e.created_at LIMIT $3`,
    [concurrency, excludedIds, limit],
  );
