import { notFound } from '@gantry/errors';
import { buildWorkspaceClosedSql } from '@gantry/events';
import type { OperationCall, PageCursor } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { createUnnamedStatement, execute, listIds, loadCount, type Sql, type Tx } from '@gantry/postgres';
import { buildAwaitsDecisionSql, type DeleteRunRows } from '@gantry/run-engine';
import type { Pool, PoolClient } from 'pg';
import { buildWorkerVisibilityFilter } from '../access/ownership';
import type { Approval, Prisma, PrismaClient } from '../generated/prisma/client';
import type { ApprovalWithWorker, DecidedStatus } from './approval';
import type { DecidedCalls, StoredCall } from './held-calls';

const INCLUDE_WORKER = { worker: { select: { name: true } } } as const;

type JsonColumn = 'data' | 'form' | 'calls' | 'answer';

export interface NewApproval
  extends Omit<Approval, JsonColumn | 'status' | 'decidedAt' | 'decidedBy' | 'decidedByLabel' | 'reason'> {
  data: unknown;
  form: unknown;
  /** Tool calls of an agent that are decided one by one. */
  calls: StoredCall[] | null;
}

const INSERT = createUnnamedStatement(
  `INSERT INTO approvals (id, workspace_id, run_id, candidate_id, worker_uid, worker_id, step_ordinal, title, message, data, form, calls,
     requested_by, requested_at, expires_at, forbid_self, link_number)
   VALUES ($id, $workspaceId, $runId, $candidateId, $workerUid, $workerId, $stepOrdinal, $title, $message, $data, $form, $calls,
     $requestedBy, $requestedAt, $expiresAt, $forbidSelf, $linkNumber)`,
);

const toJsonb = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

export async function insertApproval(tx: PoolClient, approval: NewApproval): Promise<void> {
  await tx.query(
    INSERT({ ...approval, data: toJsonb(approval.data), form: toJsonb(approval.form), calls: toJsonb(approval.calls) }),
  );
}

/** Newest first. @param before only approvals older than this */
export function listApprovals(
  prisma: PrismaClient,
  caller: Principal,
  query: OperationCall<'worker', 'listApprovals'>['query'],
  before: PageCursor | undefined,
): Promise<ApprovalWithWorker[]> {
  const { status, kind, worker_id: workerId, run_id: runId, candidate_id: candidateId, limit, offset } = query;
  return prisma.approval.findMany({
    where: {
      ...buildVisibilityFilter(caller),
      ...(status && { status }),
      ...(workerId && { workerId }),
      ...(runId && { runId }),
      ...(candidateId && { candidateId }),
      ...(kind && { AND: { candidateId: kind === 'candidate' ? { not: null } : null } }),
      ...(before && {
        OR: [{ requestedAt: { lt: before.createdAt } }, { requestedAt: before.createdAt, id: { lt: before.id } }],
      }),
    },
    orderBy: [{ requestedAt: 'desc' }, { id: 'desc' }],
    take: limit,
    skip: offset,
    include: INCLUDE_WORKER,
  });
}

export function countPendingApprovals(prisma: PrismaClient, caller: Principal): Promise<number> {
  return prisma.approval.count({ where: { ...buildVisibilityFilter(caller), status: 'pending' } });
}

/** @throws AppError 404, also for another workspace's and for one of a private worker hidden from the caller */
export async function getApproval(prisma: PrismaClient, caller: Principal, id: string): Promise<ApprovalWithWorker> {
  const approval = await prisma.approval.findFirst({
    where: { ...buildVisibilityFilter(caller), id },
    include: INCLUDE_WORKER,
  });
  if (!approval) throw notFound('approval', id);
  return approval;
}

/**
 * Returns the pending approval, if the run waits for one; null if the run never requested any. Call only after checking
 * access to the run.
 */
export function findLastRunApproval(
  prisma: PrismaClient,
  workspaceId: string,
  runId: string,
): Promise<ApprovalWithWorker | null> {
  return prisma.approval.findFirst({
    where: { workspaceId, runId, candidateId: null },
    orderBy: [{ requestedAt: 'desc' }, { id: 'desc' }],
    include: INCLUDE_WORKER,
  });
}

/** For the holder of a link: in any workspace that is not deleted. */
export function findApprovalAcrossWorkspaces(prisma: PrismaClient, id: string): Promise<ApprovalWithWorker | null> {
  return prisma.approval.findFirst({
    where: { id, worker: { deletedAt: null, workspace: { deletedAt: null } } },
    include: INCLUDE_WORKER,
  });
}

/** Lists approvals of a run and of candidates that repair it, oldest first. */
export const listRunApprovals = (prisma: PrismaClient, workspaceId: string, runId: string): Promise<Approval[]> =>
  prisma.approval.findMany({
    where: { workspaceId, runId },
    orderBy: [{ requestedAt: 'asc' }, { id: 'asc' }],
  });

/** Null: it was decided, has expired, or was deleted. */
export const findPendingApproval = (
  prisma: PrismaClient,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<Approval | null> =>
  prisma.approval.findFirst({ where: { id, workspaceId, status: 'pending', expiresAt: { gt: now } } });

/** Condition: the approval was not deleted with its run. */
export const buildApprovalExistsSql = (id: string): string => `EXISTS (SELECT FROM approvals a WHERE a.id = ${id})`;

/** Loads an approval known to exist, without an access check. */
export const getApprovalById = (prisma: PrismaClient, id: string): Promise<Approval> =>
  prisma.approval.findUniqueOrThrow({ where: { id } });

interface CandidateDecisions {
  awaitsDecisionSql: (candidateId: string) => string;
}

const buildAwaitedSql = ({ awaitsDecisionSql }: CandidateDecisions): string =>
  `CASE WHEN a.candidate_id IS NULL THEN ${buildAwaitsDecisionSql('a.run_id')} ELSE ${awaitsDecisionSql('a.candidate_id')} END`;

const IS_PENDING = `a.status = 'pending' AND NOT ${buildWorkspaceClosedSql('a.workspace_id')}`;

/** Builds an expression: when the next pending approval is to end. */
export const buildStaleApprovalsDueAtSql = (decisions: CandidateDecisions): string =>
  `(SELECT min(CASE WHEN ${buildAwaitedSql(decisions)} THEN a.expires_at ELSE a.requested_at END) FROM approvals a
    WHERE ${IS_PENDING})`;

/**
 * Lists pending approvals that have expired, or whose run or candidate no longer waits; without those in `excludedIds`
 * and in closed workspaces.
 */
export const listStalePendingApprovals = (
  pool: Pool,
  decisions: CandidateDecisions,
  { now, excludedIds, limit }: { now: Date; excludedIds: string[]; limit: number },
): Promise<string[]> =>
  listIds(pool, {
    name: 'list-stale-approvals',
    text: `SELECT a.id FROM approvals a
           WHERE ${IS_PENDING} AND (a.expires_at <= $1 OR NOT (${buildAwaitedSql(decisions)})) AND a.id <> ALL ($2)
           ORDER BY a.expires_at LIMIT $3`,
    values: [now, excludedIds, limit],
  });

/** Counts at most `max`. */
export const countPendingApprovalsUpTo = (sql: Sql, workspaceId: string, max: number): Promise<number> =>
  loadCount(
    sql,
    `SELECT count(*)::int AS count FROM (
       SELECT FROM approvals WHERE workspace_id = $1 AND status = 'pending' LIMIT $2
     ) AS bounded`,
    [workspaceId, max],
  );

export interface Decision {
  status: DecidedStatus;
  /** User or token; null for a link and for the platform. */
  decidedBy: string | null;
  decidedByLabel: string | null;
  decidedAt: Date;
  reason: string | null;
  answer: unknown;
  /** Set for an approval with tool calls that was approved. */
  calls?: DecidedCalls;
}

/** @returns false for one that is not pending any more */
export async function markApprovalDecided(tx: Tx, id: string, decision: Decision): Promise<boolean> {
  const { status, decidedBy, decidedByLabel, decidedAt, reason, answer, calls } = decision;
  const marked = await execute(
    tx,
    `UPDATE approvals SET status = $2::approval_status, decided_by = $3, decided_by_label = $4, decided_at = $5,
       reason = $6, answer = $7::json, calls = coalesce($8::json, calls) WHERE id = $1 AND status = 'pending'`,
    [id, status, decidedBy, decidedByLabel, decidedAt, reason, toJsonb(answer), toJsonb(calls?.stored)],
  );
  return marked === 1;
}

/** Renews the link, which invalidates earlier ones. @returns null if it is no longer pending, or has no links */
export async function renewReviewLink(tx: Prisma.TransactionClient, id: string): Promise<ApprovalWithWorker | null> {
  const { count } = await tx.approval.updateMany({
    where: { id, status: 'pending', linkNumber: { not: null } },
    data: { linkNumber: { increment: 1 } },
  });
  return count ? tx.approval.findUnique({ where: { id }, include: INCLUDE_WORKER }) : null;
}

export const deleteApprovals: DeleteRunRows = (tx, runIds) =>
  tx.query('DELETE FROM approvals WHERE run_id = ANY($1)', [runIds]);

/** Selects the approvals of workers visible to the caller. */
const buildVisibilityFilter = (caller: Principal): Prisma.ApprovalWhereInput => ({
  workspaceId: caller.workspaceId,
  worker: { deletedAt: null, ...buildWorkerVisibilityFilter(caller) },
});
