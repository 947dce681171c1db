/**
 * Reads and writes repairs. One replica works on a repair under a lease, and every write checks it. Another replica
 * claims a repair whose replica died: its tools only read, so nothing is done twice, and a stored response is not
 * requested again.
 */
import { buildWorkspaceClosedSql } from '@gantry/events';
import { createUnnamedStatement, execute, findRow, listRows, type Sql, type Tx, writeRow } from '@gantry/postgres';
import { buildApprovalExistsSql } from '../approvals/approval-repository';
import { buildRehearsingSql, HAS_OPEN_CANDIDATES } from '../candidates/candidate-repository';
import type { Repair as RepairRow } from '../generated/prisma/client';
import type { Message, Repair, RepairStatus } from './repair';

const COLUMNS = `id, workspace_id AS "workspaceId", worker_uid AS "workerUid", run_id AS "runId", status, proven,
  asked_model AS "askedModel", model, instructions, explanation, error, candidate_id AS "candidateId",
  is_report_due AS "isReportDue", approval_id AS "approvalId", created_by AS "createdBy",
  created_by_label AS "createdByLabel", token_id AS "tokenId", created_at AS "createdAt", ended_at AS "endedAt"`;

const LEASE = "interval '30 seconds'";
const OPEN_STATUSES = "('working', 'rehearsing', 'waiting')";

const findRepairWhere = (sql: Sql, rest: string, values: unknown[]): Promise<Repair | undefined> =>
  findRow(sql, `SELECT ${COLUMNS} FROM repairs ${rest}`, values);

export const findRepair = (sql: Sql, id: string): Promise<Repair | undefined> =>
  findRepairWhere(sql, 'WHERE id = $1', [id]);

/** Finds the latest repair of a run. */
export const findRunRepair = (sql: Sql, workspaceId: string, runId: string): Promise<Repair | undefined> =>
  findRepairWhere(sql, 'WHERE workspace_id = $1 AND run_id = $2 ORDER BY created_at DESC, id DESC LIMIT 1', [
    workspaceId,
    runId,
  ]);

export const findOpenRepair = (sql: Sql, workerUid: string): Promise<Repair | undefined> =>
  findRepairWhere(sql, `WHERE worker_uid = $1 AND status IN ${OPEN_STATUSES} LIMIT 1`, [workerUid]);

export type NewRepair = Pick<RepairRow, 'id' | 'workspaceId' | 'workerUid' | 'runId' | 'askedModel' | 'instructions'> &
  Pick<RepairRow, 'createdBy' | 'createdByLabel' | 'tokenId' | 'fingerprint'>;

const INSERT = createUnnamedStatement(
  `INSERT INTO repairs (id, workspace_id, worker_uid, run_id, status, asked_model, instructions, created_by, created_by_label,
     token_id, fingerprint)
   VALUES ($id, $workspaceId, $workerUid, $runId, 'working', $askedModel, $instructions, $createdBy, $createdByLabel, $tokenId,
     $fingerprint)`,
);

export const insertRepair = (tx: Sql, repair: NewRepair): Promise<unknown> => tx.query(INSERT({ ...repair }));

export interface RepairCounts {
  /** Automatic repairs within a day. */
  today: number;
  /** Whether one was for the same version and error. */
  isKnown: boolean;
}

export async function loadRepairCounts(sql: Sql, workerUid: string, fingerprint: string): Promise<RepairCounts> {
  const { rows } = await sql.query<RepairCounts>(
    `SELECT count(*) FILTER (WHERE fingerprint IS NOT NULL AND created_at > now() - interval '1 day')::int AS today,
       coalesce(bool_or(fingerprint = $2), false) AS "isKnown"
     FROM repairs WHERE worker_uid = $1`,
    [workerUid, fingerprint],
  );
  return rows[0] ?? { today: 0, isKnown: false };
}

/** Condition: true while a candidate is rehearsed or a repair worked on. */
export const HAS_OPEN_TRIALS = `(${HAS_OPEN_CANDIDATES}
  OR EXISTS (SELECT FROM repairs WHERE status IN ('working', 'rehearsing')))`;

/** Claims repairs without a working replica, or whose candidate has been rehearsed; none of closed workspaces. */
export const claimRepairs = (sql: Sql, replica: string, limit: number): Promise<Repair[]> =>
  listRows(
    sql,
    `UPDATE repairs SET status = 'working', leased_by = $1, leased_until = now() + ${LEASE} WHERE id = ANY(ARRAY(
       SELECT r.id FROM repairs r WHERE (
           r.status = 'working' AND (r.leased_until IS NULL OR r.leased_until < now())
           OR r.status = 'rehearsing' AND NOT ${buildRehearsingSql('r.candidate_id')})
         AND NOT ${buildWorkspaceClosedSql('r.workspace_id')}
       ORDER BY r.created_at LIMIT $2 FOR UPDATE SKIP LOCKED))
     RETURNING ${COLUMNS}`,
    [replica, limit],
  );

/** @returns false if another replica holds the repair by now, or it is no longer running */
export const renewRepairLease = (sql: Sql, id: string, replica: string): Promise<boolean> =>
  writeRow(
    sql,
    `UPDATE repairs SET leased_until = now() + ${LEASE} WHERE id = $1 AND leased_by = $2 AND status = 'working'`,
    [id, replica],
  );

/** Releases the lease, so that another replica continues at once. */
export const releaseRepair = (sql: Sql, id: string, replica: string): Promise<unknown> =>
  sql.query('UPDATE repairs SET leased_until = now() WHERE id = $1 AND leased_by = $2', [id, replica]);

type RepairChange = Partial<
  Pick<Repair, 'proven' | 'model' | 'explanation' | 'error' | 'candidateId' | 'isReportDue' | 'approvalId'>
>;

/** Updates a repair in a transaction that holds its lease. Absent fields stay unchanged. */
export const updateRepair = (
  tx: Sql,
  id: string,
  { status, ...change }: RepairChange & { status?: RepairStatus },
): Promise<unknown> =>
  tx.query(
    `UPDATE repairs SET status = coalesce($2, status), proven = coalesce($3, proven), model = coalesce($4, model),
       explanation = coalesce($5, explanation), error = coalesce($6, error), candidate_id = coalesce($7, candidate_id),
       is_report_due = coalesce($8, is_report_due), approval_id = coalesce($9, approval_id),
       ended_at = CASE WHEN $2 IN ('failed', 'stopped') THEN now() END
     WHERE id = $1`,
    [
      ...[id, status ?? null, change.proven ?? null, change.model ?? null, change.explanation ?? null],
      ...[change.error ?? null, change.candidateId ?? null, change.isReportDue ?? null, change.approvalId ?? null],
    ],
  );

/** Stops a repair by compare-and-set. @returns whether it was running */
export const stopOpenRepair = (tx: Sql, id: string): Promise<boolean> =>
  writeRow(
    tx,
    `UPDATE repairs SET status = 'stopped', ended_at = now(), leased_by = NULL, leased_until = NULL
     WHERE id = $1 AND status IN ('working', 'rehearsing')`,
    [id],
  );

/** Ends a repair with the decision on its candidate. */
export const updateDecidedRepair = (tx: Tx, candidateId: string, status: 'approved' | 'rejected'): Promise<number> =>
  execute(tx, "UPDATE repairs SET status = $2, ended_at = now() WHERE candidate_id = $1 AND status = 'waiting'", [
    candidateId,
    status,
  ]);

/** Lists the messages in order. */
export const listMessages = (sql: Sql, repairId: string): Promise<Message[]> =>
  listRows(sql, 'SELECT role, content FROM repair_messages WHERE repair_id = $1 ORDER BY number', [repairId]);

export const insertMessage = (tx: Sql, repairId: string, { role, content }: Message): Promise<unknown> =>
  tx.query(
    `INSERT INTO repair_messages (repair_id, number, role, content)
     VALUES ($1, (SELECT coalesce(max(number), 0) + 1 FROM repair_messages WHERE repair_id = $1), $2, $3)`,
    [repairId, role, JSON.stringify(content)],
  );

/** Rejects repairs whose approval was deleted with their run. @returns their candidates */
export async function rejectOrphanedRepairs(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ candidateId: string }>(
    `UPDATE repairs r SET status = 'rejected', ended_at = now()
     WHERE status = 'waiting' AND NOT ${buildApprovalExistsSql('r.approval_id')}
     RETURNING candidate_id AS "candidateId"`,
  );
  return rows.map(({ candidateId }) => candidateId);
}

export const deleteOldRepairs = (sql: Sql): Promise<unknown> =>
  sql.query(
    `DELETE FROM repairs WHERE id IN
       (SELECT id FROM repairs WHERE ended_at < now() - interval '90 days' LIMIT 1000)`,
  );
