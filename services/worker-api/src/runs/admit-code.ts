/**
 * Decides what the code of a run can reach, for every way to start a run. Code that an agent wrote runs without
 * secrets, connections, network, packages of its choice and changes of contexts, or not at all, until a person has
 * approved it (ADR 54).
 */
import { conflict } from '@gantry/errors';
import type { Sql } from '@gantry/postgres';
import type { RunSpec } from '@gantry/run-engine';
import {
  describePendingApproval,
  isVersionApproved,
  listGrantedAccess,
  listUnapprovedPackages,
} from '../workers/version-approval';
import type { Runnable } from './runnable';

interface Admission {
  worker: { uid: string; id: string };
  runnable: Runnable;
  /** Whether a draft is tested: it has no network, whatever it declares. */
  isDraft?: boolean;
  /**
   * Whether a repair wrote the code: it is rehearsed with placeholders, and nothing that it sends leaves the executor.
   */
  isUnread?: boolean;
}

/** @throws AppError 409 `version_not_approved`, which names the version and what it would reach */
export async function admitCode(sql: Sql, dashboardUrl: string, admission: Admission) {
  const { worker, runnable, isDraft = false, isUnread = false } = admission;
  const { spec, definition, approvalSha } = runnable;
  if (await isUnapproved(sql, worker.uid, runnable)) {
    const reach = await listGrantedAccess(sql, worker.uid, isDraft ? { ...definition, network: 'none' } : definition);
    if (!reach.length) return { spec: restrictSpec(spec), canChangeContexts: false };
    throw conflict('version_not_approved', describePendingApproval(dashboardUrl, worker.id, approvalSha ?? '', reach));
  }
  if (isUnread) await requireApprovedPackages(sql, worker.uid, definition);
  return { spec, canChangeContexts: !isUnread };
}

/** Returns whether the code is refused until a person approves it. */
export const isAwaitingApproval = async (sql: Sql, workerUid: string, runnable: Runnable): Promise<boolean> =>
  (await isUnapproved(sql, workerUid, runnable)) &&
  (await listGrantedAccess(sql, workerUid, runnable.definition)).length > 0;

export const isUnapproved = async (sql: Sql, workerUid: string, { approvalSha }: Runnable): Promise<boolean> =>
  approvalSha !== null && !(await isVersionApproved(sql, workerUid, approvalSha));

/** Removes `call`: the code could otherwise let an approved worker act in its place. */
const restrictSpec = (spec: RunSpec): RunSpec => ({ ...spec, network: 'none', may: ['approve'] });

async function requireApprovedPackages(sql: Sql, workerUid: string, definition: Runnable['definition']): Promise<void> {
  const packages = await listUnapprovedPackages(sql, workerUid, definition);
  if (packages.length) {
    throw conflict(
      'version_not_approved',
      `this version needs packages that no person has approved: ${packages.join(', ')}`,
    );
  }
}
