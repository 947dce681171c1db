/**
 * Results of evaluations. The judging replica holds a lease on it, and every write is held against that: two replicas
 * neither judge the same result nor pay for it twice.
 */
import { addChangeHint } from '@gantry/events';
import { createRowSet, createUnnamedStatement, listRows, loadCount, type Sql, writeRow } from '@gantry/postgres';
import { buildHasEndedSql } from '@gantry/run-engine';
import type { Example } from '../examples/example';
import type { EvaluationResult } from '../generated/prisma/client';
import type { Verdict } from '../rehearsals/check-outcome';
import type { Evaluation, Result, VerdictStatus } from './evaluation';

const COLUMNS = `evaluation_id AS "evaluationId", example_id AS "exampleId", name, inputs, checks,
  max_duration_seconds AS "maxDurationSeconds", max_cost_usd AS "maxCostUsd", of_run_id AS "ofRunId", status,
  run_id AS "runId", verdicts, output, error, duration_ms AS "durationMs", usd`;
const RESULT = `SELECT ${COLUMNS} FROM evaluation_results`;

/** By name. */
export const listResults = (sql: Sql, evaluationId: string): Promise<Result[]> =>
  listRows(sql, `${RESULT} WHERE evaluation_id = $1 ORDER BY name, example_id`, [evaluationId]);

export type Cell = Pick<Result, 'exampleId' | 'name' | 'status' | 'runId'> & Pick<Evaluation, 'sha'>;

/** Cells of the table over versions. */
export const listCells = (sql: Sql, evaluationIds: string[]): Promise<Cell[]> =>
  listRows(
    sql,
    `SELECT e.sha, r.example_id AS "exampleId", r.name, r.status, r.run_id AS "runId"
     FROM evaluation_results r JOIN evaluations e ON e.id = r.evaluation_id WHERE e.id = ANY($1)`,
    [evaluationIds],
  );

const exampleCopies = createRowSet<Example>('example', {
  id: ['text', ({ id }) => id],
  name: ['text', ({ name }) => name],
  inputs: ['json', ({ inputs }) => JSON.stringify(inputs)],
  checks: ['json', ({ checks }) => JSON.stringify(checks)],
  seconds: ['float8', ({ maxDurationSeconds }) => maxDurationSeconds],
  usd: ['float8', ({ maxCostUsd }) => maxCostUsd],
  of_run_id: ['text', ({ ofRunId }) => ofRunId],
});
const INSERT = createUnnamedStatement(
  `INSERT INTO evaluation_results (evaluation_id, example_id, name, inputs, checks, max_duration_seconds, max_cost_usd, of_run_id,
     status)
   SELECT $evaluationId, id, name, inputs, checks, seconds, usd, of_run_id, 'pending' FROM ${exampleCopies.sql}`,
);

export const insertResults = (tx: Sql, evaluationId: string, examples: Example[]): Promise<unknown> =>
  tx.query(INSERT({ evaluationId, ...exampleCopies.params(examples) }));

/** In the order in which they are run. */
export const listPendingResults = (tx: Sql, evaluationId: string, limit: number): Promise<Result[]> =>
  listRows(tx, `${RESULT} WHERE evaluation_id = $1 AND status = 'pending' ORDER BY name, example_id LIMIT $2`, [
    evaluationId,
    limit,
  ]);

export const countRunningResults = (tx: Sql, evaluationId: string): Promise<number> =>
  loadCount(
    tx,
    `SELECT count(*)::int AS count FROM evaluation_results WHERE evaluation_id = $1 AND status IN ('running', 'judging')`,
    [evaluationId],
  );

type ResultKey = Pick<Result, 'evaluationId' | 'exampleId'>;

/** It has a run now, or could not get one. */
export const startResult = (
  tx: Sql,
  { evaluationId, exampleId }: ResultKey,
  outcome: { runId: string } | { error: string },
): Promise<unknown> => {
  const { runId, error } = { runId: null, error: null, ...outcome };
  return tx.query(
    `UPDATE evaluation_results SET status = $3, run_id = $4, error = $5
     WHERE evaluation_id = $1 AND example_id = $2 AND status = 'pending'`,
    [evaluationId, exampleId, runId === null ? 'error' : 'running', runId, error],
  );
};

/** Those whose run has ended, or is gone. */
export const markEndedForJudging = (sql: Sql): Promise<unknown> =>
  sql.query(
    `UPDATE evaluation_results SET status = 'judging'
     WHERE status = 'running' AND ${buildHasEndedSql('evaluation_results.run_id')}`,
  );

const LEASE = "interval '3 minutes'";

export interface ClaimedResult
  extends Result,
    Pick<Evaluation, 'workspaceId' | 'workerUid'>,
    Pick<EvaluationResult, 'leasedBy' | 'tries'> {
  /** Another replica held it and did not hand it back: judging may have been what ended its process. */
  isLost: boolean;
}

/** Claims results without a judging replica. @param leasedBy of the caller alone */
export const claimResults = (sql: Sql, leasedBy: string, limit: number): Promise<ClaimedResult[]> =>
  listRows(
    sql,
    `WITH due AS (
       SELECT evaluation_id, example_id, leased_by AS left_by FROM evaluation_results
       WHERE status = 'judging' AND (leased_until IS NULL OR leased_until < now())
       LIMIT $2 FOR UPDATE SKIP LOCKED),
     claimed AS (
       UPDATE evaluation_results e SET leased_by = $1, leased_until = now() + ${LEASE}, tries = tries + 1
       FROM due d WHERE e.evaluation_id = d.evaluation_id AND e.example_id = d.example_id
       RETURNING e.*, d.left_by)
     SELECT ${COLUMNS}, leased_by AS "leasedBy", tries, coalesce(left_by <> $1, false) AS "isLost",
       (SELECT workspace_id FROM evaluations WHERE id = evaluation_id) AS "workspaceId",
       (SELECT worker_uid FROM evaluations WHERE id = evaluation_id) AS "workerUid"
     FROM claimed`,
    [leasedBy, limit],
  );

const HELD =
  "evaluation_id = $evaluationId AND example_id = $exampleId AND status = 'judging' AND leased_by = $leasedBy";

const STORE_VERDICTS = createUnnamedStatement(
  `UPDATE evaluation_results SET verdicts = $verdicts, usd = usd + $usd, leased_until = now() + ${LEASE} WHERE ${HELD}`,
);

/**
 * Stores the verdicts so far and renews the lease.
 * @returns false where the lease is another's, or the evaluation has ended
 */
export const storeVerdicts = (
  tx: Sql,
  { evaluationId, exampleId, leasedBy }: ClaimedResult,
  { verdicts, usd }: { verdicts: Verdict[]; usd: number },
): Promise<boolean> =>
  writeRow(tx, STORE_VERDICTS({ evaluationId, exampleId, leasedBy, usd, verdicts: JSON.stringify(verdicts) }));

/** `usd`: cost of the run, in US dollars. */
export interface ResultOutcome extends Pick<Result, 'verdicts' | 'error' | 'durationMs' | 'usd'> {
  status: VerdictStatus;
  /** JSON; null: none, or too large. */
  output: string | null;
}

const END_RESULT = createUnnamedStatement(
  `UPDATE evaluation_results SET status = $status, verdicts = $verdicts, output = $output, error = $error,
     duration_ms = $durationMs, usd = usd + $usd, leased_by = NULL, leased_until = NULL WHERE ${HELD}`,
);

export async function endResult(
  tx: Sql,
  { evaluationId, exampleId, leasedBy, workspaceId }: ClaimedResult,
  { verdicts, ...outcome }: ResultOutcome,
): Promise<void> {
  await tx.query(END_RESULT({ ...outcome, evaluationId, exampleId, leasedBy, verdicts: JSON.stringify(verdicts) }));
  addChangeHint(tx, workspaceId, 'workers');
}

/** Another replica may go on with it at once. */
export const releaseResults = (sql: Sql, leasedBy: string): Promise<unknown> =>
  sql.query('UPDATE evaluation_results SET leased_by = NULL, leased_until = NULL WHERE leased_by = $1', [leasedBy]);
