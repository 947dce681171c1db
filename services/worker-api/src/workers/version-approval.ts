/**
 * Approvals of code that an agent wrote: until a person has approved its sha, runs/admit-code.ts lets it reach nothing.
 * One holds for every version and candidate of the worker that is equal, and is never taken back (ADR 54).
 */

import { forbidden } from '@gantry/errors';
import { type Actor, toApiFields } from '@gantry/http';
import { isUnrestrictedPerson, type Principal } from '@gantry/limits';
import type { Sql } from '@gantry/postgres';
import { recordChange } from '../audit/audit-entry';
import type { Db } from '../database';
import type { Prisma, VersionApproval, Worker } from '../generated/prisma/client';
import type { Definition } from './definition';

/** Code of a worker, as an approval names it. */
export interface ApprovableCode {
  sha: string;
  needsApproval: boolean;
}

/** Condition: a person has approved this code of a worker. */
export const buildHasApprovalSql = (workerUid: string, sha: string): string =>
  `EXISTS (SELECT FROM version_approvals a WHERE a.worker_uid = ${workerUid} AND a.sha = ${sha})`;

/** Also where a person has written an equal version. */
export async function isVersionApproved(sql: Sql, workerUid: string, sha: string): Promise<boolean> {
  const { rows } = await sql.query<{ approved: boolean }>(
    `SELECT ${buildHasApprovalSql('$1', '$2')}
       OR EXISTS (SELECT FROM worker_versions WHERE worker_uid = $1 AND sha = $2 AND NOT needs_approval) AS approved`,
    [workerUid, sha],
  );
  return rows[0]?.approved === true;
}

/**
 * Whether code that is made from this version has to be approved, also after a change by a person, who need not have
 * read the rest.
 */
export async function isApprovalStillNeeded(db: Db, workerUid: string, { sha, needsApproval }: ApprovableCode) {
  if (!needsApproval) return false;
  const [approval, equal] = await Promise.all([
    db.versionApproval.findUnique({ where: { workerUid_sha: { workerUid, sha } } }),
    db.workerVersion.findFirst({ where: { workerUid, sha, needsApproval: false }, select: { number: true } }),
  ]);
  return !approval && !equal;
}

/**
 * In the transaction of the decision, with its audit entry. Nothing happens where it is approved already.
 * @param approver a person
 */
export async function approveCode(
  tx: Prisma.TransactionClient,
  worker: Pick<Worker, 'workspaceId' | 'uid' | 'id'>,
  sha: string,
  approver: { id: string; label: string | null; actor: Actor; now: Date },
): Promise<void> {
  const { id: approvedBy, label: approvedByLabel, actor, now: approvedAt } = approver;
  const { count } = await tx.versionApproval.createMany({
    data: { workerUid: worker.uid, sha, approvedBy, approvedByLabel, approvedAt },
    skipDuplicates: true,
  });
  if (count === 0) return;
  const { workspaceId, id } = worker;
  await recordChange(tx, actor, 'worker.version_approved', { workspaceId, id }, { sha });
}

/**
 * Approves the code with the decision that makes it a version. Agents and workspace tokens decide too, but the version
 * then waits for its approval.
 * @param caller null: the platform, or the holder of a link
 * @throws AppError 403 `person_needed` for a restricted token, where the code is not approved yet
 */
export async function approveWithDecision(
  tx: Prisma.TransactionClient,
  worker: Pick<Worker, 'workspaceId' | 'uid' | 'id'>,
  code: ApprovableCode,
  { caller, label, actor, now }: { caller: Principal | null; label: string | null; actor: Actor; now: Date },
): Promise<void> {
  if (!code.needsApproval || !caller) return;
  if (caller.restriction && (await isApprovalStillNeeded(tx, worker.uid, code))) throw createPersonNeededError();
  if (isUnrestrictedPerson(caller)) await approveCode(tx, worker, code.sha, { id: caller.userId, label, actor, now });
}

/**
 * @returns the id of the person.
 * @throws AppError 403 `person_needed` for agents, restricted tokens and workspace tokens
 */
export function getPersonId(caller: Principal): string {
  if (isUnrestrictedPerson(caller)) return caller.userId;
  throw createPersonNeededError();
}

const createPersonNeededError = () =>
  forbidden(
    'person_needed',
    'a person must approve agent-written code in the dashboard, or with a personal token without restrictions',
  );

/** By sha. */
export async function listApprovals(db: Db, workerUid: string, shas: string[]): Promise<Map<string, VersionApproval>> {
  if (!shas.length) return new Map();
  const rows = await db.versionApproval.findMany({ where: { workerUid, sha: { in: shas } } });
  return new Map(rows.map((row) => [row.sha, row]));
}

type ApprovalRecord = Pick<VersionApproval, 'approvedBy' | 'approvedByLabel' | 'approvedAt'>;

/** As the API shows it; null: none is needed. */
export function approvalToApi({ needsApproval }: ApprovableCode, approval: ApprovalRecord | null | undefined) {
  if (approval) {
    return { status: 'approved', ...toApiFields(approval, 'approvedBy', 'approvedByLabel', 'approvedAt') };
  }
  return needsApproval ? { status: 'waiting', approved_by: null, approved_by_label: null, approved_at: null } : null;
}

type GrantedAccess = Pick<Definition, 'secrets' | 'connections' | 'network' | 'python_dependencies'>;

/** Lists what the definition gives to unapproved code beyond its inputs, in words. */
export async function listGrantedAccess(sql: Sql, workerUid: string, definition: GrantedAccess): Promise<string[]> {
  const { secrets, connections, network } = definition;
  const packages = await listUnapprovedPackages(sql, workerUid, definition);
  return [
    ...(secrets.length ? [`the secrets ${secrets.join(', ')}`] : []),
    ...(connections.length ? [`the connections ${connections.join(', ')}`] : []),
    ...(network !== 'none' ? ['the network'] : []),
    ...(packages.length ? [`the packages ${packages.join(', ')}`] : []),
  ];
}

/**
 * Query: the names among `packages`, itself a query of one column, that no version of the worker declares which a
 * person wrote or approved.
 */
export const buildUnapprovedPackagesSql = (workerUid: string, packages: string): string =>
  `${packages} EXCEPT SELECT json_array_elements_text(v.definition -> 'python_dependencies') FROM worker_versions v
   WHERE v.worker_uid = ${workerUid} AND (NOT v.needs_approval OR ${buildHasApprovalSql('v.worker_uid', 'v.sha')})`;

export async function listUnapprovedPackages(
  sql: Sql,
  workerUid: string,
  { python_dependencies: packages }: Pick<GrantedAccess, 'python_dependencies'>,
): Promise<string[]> {
  if (!packages.length) return [];
  const { rows } = await sql.query<{ name: string }>(
    `${buildUnapprovedPackagesSql('$1', 'SELECT unnest($2::text[]) AS name')} ORDER BY name`,
    [workerUid, packages],
  );
  return rows.map(({ name }) => name);
}

/** For people and for models: what waits, why, and where it is approved. */
export const describePendingApproval = (
  dashboardUrl: string,
  workerId: string,
  sha: string,
  grantedAccess: string[],
): string =>
  `version ${sha.slice(0, 8)} of ${workerId} waits for a person's approval because an agent wrote it and it can use ${grantedAccess.join(' and ')}. Review and approve it at ${dashboardUrl}/workers/${encodeURIComponent(workerId)}. Code with "network": "none" and no secrets, connections or packages runs without approval`;
