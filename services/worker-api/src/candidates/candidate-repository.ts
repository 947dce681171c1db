/**
 * Stores candidates and their cases. A candidate's row is locked before its cases are changed, and after its worker's.
 */

import { notFound } from '@gantry/errors';
import { buildWorkspaceClosedSql } from '@gantry/events';
import {
  createUnnamedStatement,
  execute,
  hasRow,
  listIds,
  listRows,
  loadCount,
  type Sql,
  type Tx,
  writeRow,
} from '@gantry/postgres';
import { buildHasEndedSql } from '@gantry/run-engine';
import { OUTCOMES } from '../rehearsals/compare-run-outcomes';
import { buildResultCountsSql } from '../rehearsals/count-results';
import { parseStoredDefinition } from '../workers/definition';
import { buildHasApprovalSql, buildUnapprovedPackagesSql } from '../workers/version-approval';
import type { WorkerWithTriggers } from '../workers/worker-repository';
import { type Candidate, type CandidateStatus, type Case, OPEN_STATUSES, type Summary } from './candidate';

const COLUMNS = `id, workspace_id AS "workspaceId", worker_uid AS "workerUid", status, repair_id AS "repairId",
  base_sha AS "baseSha", base_number AS "baseNumber", sha, definition, files,
  json_build_object('digest', code_digest, 'key', code_key, 'size', code_size) AS code, message, warnings, error, created_by AS "createdBy",
  created_by_label AS "createdByLabel", created_at AS "createdAt", decided_by AS "decidedBy",
  decided_by_label AS "decidedByLabel", decided_at AS "decidedAt", needs_approval AS "needsApproval"`;

const toCandidate = <Row extends Candidate>(row: Row): Row => ({
  ...row,
  definition: parseStoredDefinition(row.definition),
});

type WorkerKey = Pick<WorkerWithTriggers, 'workspaceId' | 'uid'>;

/** @throws AppError 404, also for a candidate of another worker */
export async function getCandidate(sql: Sql, { workspaceId, uid }: WorkerKey, id: string): Promise<Candidate> {
  const { rows } = await sql.query<Candidate>(
    `SELECT ${COLUMNS} FROM worker_candidates WHERE workspace_id = $1 AND worker_uid = $2 AND id = $3`,
    [workspaceId, uid, id],
  );
  if (!rows[0]) throw notFound('candidate', id, 'for this worker');
  return toCandidate(rows[0]);
}

/** Undefined: it was deleted with its worker. */
export async function findCandidate(sql: Sql, id: string): Promise<Candidate | undefined> {
  const { rows } = await sql.query<Candidate>(`SELECT ${COLUMNS} FROM worker_candidates WHERE id = $1`, [id]);
  return rows[0] && toCandidate(rows[0]);
}

/** Locks its row until the transaction ends. */
export async function lockCandidate(tx: Sql, id: string): Promise<Candidate | undefined> {
  const { rows } = await tx.query<Candidate>(`SELECT ${COLUMNS} FROM worker_candidates WHERE id = $1 FOR UPDATE`, [id]);
  return rows[0] && toCandidate(rows[0]);
}

/** Newest first. */
export async function listCandidates(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  { status, limit, offset }: { status?: CandidateStatus | undefined; limit: number; offset: number },
): Promise<{ candidates: { candidate: Candidate; summary: Summary }[]; total: number }> {
  const of = [workspaceId, uid, status ?? null];
  const where = 'workspace_id = $1 AND worker_uid = $2 AND ($3::text IS NULL OR status = $3)';
  const [page, counted] = await Promise.all([
    sql.query<Candidate & { summary: Summary }>(
      `SELECT ${COLUMNS}, (SELECT ${buildResultCountsSql('outcome', OUTCOMES)} FROM candidate_cases WHERE candidate_id = c.id) AS summary
       FROM worker_candidates c
       WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT $4 OFFSET $5`,
      [...of, limit, offset],
    ),
    sql.query<{ total: number }>(`SELECT count(*)::int AS total FROM worker_candidates WHERE ${where}`, of),
  ]);
  const candidates = page.rows.map(({ summary, ...row }) => ({ candidate: toCandidate(row), summary }));
  return { candidates, total: counted.rows[0]?.total ?? 0 };
}

export const countOpenCandidates = (sql: Sql, workerUid: string): Promise<number> =>
  loadCount(sql, 'SELECT count(*)::int AS count FROM worker_candidates WHERE worker_uid = $1 AND status = ANY($2)', [
    workerUid,
    OPEN_STATUSES,
  ]);

/** Serialises requests that add candidates of the worker or begin their rehearsals, until the transaction ends. */
export const lockWorkerTrials = (tx: Sql, workerUid: string): Promise<unknown> =>
  tx.query("SELECT pg_advisory_xact_lock(hashtextextended('trials of ' || $1, 0))", [workerUid]);

export type NewCandidate = Omit<Candidate, 'createdAt' | 'decidedBy' | 'decidedByLabel' | 'decidedAt' | 'error'>;

const INSERT = createUnnamedStatement(
  `INSERT INTO worker_candidates (id, workspace_id, worker_uid, status, repair_id, base_sha, base_number, sha, definition, files,
     code_digest, code_key, code_size, message, warnings, created_by, created_by_label, needs_approval)
   VALUES ($id, $workspaceId, $workerUid, $status, $repairId, $baseSha, $baseNumber, $sha, $definition, $files, $codeDigest,
     $codeKey, $codeSize, $message, $warnings, $createdBy, $createdByLabel, $needsApproval)`,
);

/** Inserts a candidate with a case for each of the runs. */
export async function insertCandidate(tx: Sql, candidate: NewCandidate, runIds: string[]): Promise<void> {
  const { definition, files, code, warnings, ...columns } = candidate;
  await tx.query(
    INSERT({
      ...columns,
      codeDigest: code.digest,
      codeKey: code.key,
      codeSize: code.size,
      definition: JSON.stringify(definition),
      files: JSON.stringify(files),
      warnings: JSON.stringify(warnings),
    }),
  );
  await tx.query(
    `INSERT INTO candidate_cases (candidate_id, number, worker_uid, run_id, status)
     SELECT $1, number, $2, run_id, 'waiting' FROM unnest($3::text[]) WITH ORDINALITY AS runs(run_id, number)`,
    [candidate.id, candidate.workerUid, runIds],
  );
}

interface CandidateTransition {
  status: CandidateStatus;
  error?: string | null;
  decision?: { id: string | null; label: string | null; at: Date };
}

/**
 * Moves it by compare-and-set; without a decision, that of before stays.
 * @returns whether it was in one of those states
 */
export async function transitionCandidate(
  tx: Tx,
  id: string,
  from: readonly CandidateStatus[],
  { status, error = null, decision }: CandidateTransition,
): Promise<boolean> {
  const moved = await execute(
    tx,
    `UPDATE worker_candidates SET status = $2, error = coalesce($3, error), decided_by = coalesce($4, decided_by),
       decided_by_label = coalesce($5, decided_by_label), decided_at = coalesce($6, decided_at)
     WHERE id = $1 AND status = ANY($7)`,
    [id, status, error, decision?.id ?? null, decision?.label ?? null, decision?.at ?? null, [...from]],
  );
  return moved === 1;
}

const CASE = `candidate_id AS "candidateId", number, worker_uid AS "workerUid", run_id AS "runId", status,
  rehearsal_run_id AS "rehearsalRunId", base_run_id AS "baseRunId", recorded, rehearsed, outcome, reason, differences`;

/** Lists the cases in their order. */
export const listCases = (sql: Sql, candidateId: string): Promise<Case[]> =>
  listRows(sql, `SELECT ${CASE} FROM candidate_cases WHERE candidate_id = $1 ORDER BY number`, [candidateId]);

/** Checks that a case has not moved since it was read; call it under the lock of its candidate. */
export async function isCaseUnchanged(tx: Sql, { candidateId, number, status }: Case): Promise<boolean> {
  const unchanged = 'SELECT 1 FROM candidate_cases WHERE candidate_id = $1 AND number = $2 AND status = $3';
  return hasRow(tx, unchanged, [candidateId, number, status]);
}

const buildActiveCountSql = (workerUid: string): string =>
  `SELECT count(*)::int AS count FROM candidate_cases WHERE worker_uid = ${workerUid} AND status IN ('rehearsing', 'pairing')`;

export const countActiveCases = (sql: Sql, workerUid: string): Promise<number> =>
  loadCount(sql, buildActiveCountSql('$1'), [workerUid]);

/** Moves a case by compare-and-set from the status that it was read with. @returns false if it had another one */
export async function transitionCase(
  tx: Sql,
  { candidateId, number, status }: Pick<Case, 'candidateId' | 'number' | 'status'>,
  to: Partial<Omit<Case, 'candidateId' | 'number' | 'workerUid' | 'runId'>> & Pick<Case, 'status'>,
): Promise<boolean> {
  const toJsonb = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  return writeRow(
    tx,
    `UPDATE candidate_cases SET status = $4, rehearsal_run_id = coalesce($5, rehearsal_run_id),
       base_run_id = coalesce($6, base_run_id), recorded = coalesce($7::json, recorded),
       rehearsed = coalesce($8::json, rehearsed), outcome = $9, reason = $10, differences = $11
     WHERE candidate_id = $1 AND number = $2 AND status = $3`,
    [
      ...[candidateId, number, status, to.status, to.rehearsalRunId ?? null, to.baseRunId ?? null],
      ...[toJsonb(to.recorded), toJsonb(to.rehearsed), to.outcome ?? null, to.reason ?? null, toJsonb(to.differences)],
    ],
  );
}

/** Value: the rehearsal that a case waits for. */
const ACTIVE_RUN = "CASE status WHEN 'rehearsing' THEN rehearsal_run_id WHEN 'pairing' THEN base_run_id END";

/** Lists cases whose rehearsal has ended, or was deleted. */
export const listEndedCases = (sql: Sql, limit: number): Promise<Case[]> =>
  listRows(
    sql,
    `SELECT ${CASE} FROM (
       SELECT *, ${ACTIVE_RUN} AS active_run_id FROM candidate_cases WHERE status IN ('rehearsing', 'pairing')) waiting
     WHERE ${buildHasEndedSql('active_run_id')}
       AND NOT ${buildWorkspaceClosedSql('(SELECT workspace_id FROM worker_candidates WHERE id = candidate_id)')} LIMIT $1`,
    [limit],
  );

/** Condition: the rehearsals of candidate `c` wait for a person: see admit-code.ts. */
const HELD_CONDITION = `c.needs_approval AND c.repair_id IS NULL
  AND NOT ${buildHasApprovalSql('c.worker_uid', 'c.sha')}
  AND (c.definition ->> 'network' IS DISTINCT FROM 'none' OR json_array_length(c.definition -> 'secrets') > 0
    OR json_array_length(c.definition -> 'connections') > 0
    OR EXISTS (${buildUnapprovedPackagesSql('c.worker_uid', "SELECT json_array_elements_text(c.definition -> 'python_dependencies')")}))`;

/**
 * Lists candidates that could begin another rehearsal, or end, oldest first.
 * @param concurrency active rehearsals of one worker at most
 */
export const listResumableCandidates = (
  sql: Sql,
  { concurrency, limit }: { concurrency: number; limit: number },
): Promise<string[]> =>
  listIds(
    sql,
    `SELECT c.id FROM worker_candidates c WHERE c.status = 'rehearsing' AND NOT ${buildWorkspaceClosedSql('c.workspace_id')} AND NOT (${HELD_CONDITION}) AND (
       EXISTS (SELECT FROM candidate_cases WHERE candidate_id = c.id AND status = 'waiting')
         AND (${buildActiveCountSql('c.worker_uid')}) < $1
       OR NOT EXISTS (SELECT FROM candidate_cases WHERE candidate_id = c.id AND status <> 'settled'))
     ORDER BY c.created_at LIMIT $2`,
    [concurrency, limit],
  );

/** Lists rehearsals that still run although they are no longer needed. */
export const listActiveRehearsals = (sql: Sql, candidateId: string): Promise<string[]> =>
  listIds(
    sql,
    `SELECT ${ACTIVE_RUN} AS id FROM candidate_cases WHERE candidate_id = $1 AND status IN ('rehearsing', 'pairing')`,
    [candidateId],
  );

/** Lists the proposals of a repair, oldest first. */
export const listProposals = (sql: Sql, repairId: string): Promise<string[]> =>
  listIds(sql, 'SELECT id FROM worker_candidates WHERE repair_id = $1 ORDER BY created_at, id', [repairId]);

/** Condition: a candidate, or one of its cases, is under way. */
export const HAS_OPEN_CANDIDATES = `(EXISTS (SELECT FROM worker_candidates WHERE status = 'rehearsing')
  OR EXISTS (SELECT FROM candidate_cases WHERE status IN ('rehearsing', 'pairing')))`;

const buildHasStatusSql = (id: string, status: CandidateStatus): string =>
  `EXISTS (SELECT FROM worker_candidates c WHERE c.id = ${id} AND c.status = '${status}')`;

/** Condition: the candidate is being rehearsed. */
export const buildRehearsingSql = (id: string): string => buildHasStatusSql(id, 'rehearsing');

/** Condition: the candidate waits for a decision. */
export const buildReadySql = (id: string): string => buildHasStatusSql(id, 'ready');

/** Condition: an undecided candidate has this pack. */
export const buildCandidateHasPackSql = (key: string): string =>
  `EXISTS (SELECT FROM worker_candidates c WHERE c.code_key = ${key} AND c.status IN ('rehearsing', 'ready', 'failed'))`;
