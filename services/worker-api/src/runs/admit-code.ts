/**
 * Decides what the code of a run can reach, for every way to start a run. Code that an agent wrote runs without
 * secrets, connections and network, or not at all, until a person has approved it (ADR 54).
 */
import { hostPattern } from '@gantry/events';
import { conflict } from '@gantry/http';
import type { Sql } from '@gantry/postgres';
import { listReachedHosts, type Run, type RunSpec } from '@gantry/run-engine';
import { describeWaiting, isApproved, listReach } from '../workers/version-approval';
import type { Runnable } from './runnable';

interface Admission {
  worker: { uid: string; id: string };
  runnable: Runnable;
  /** Whether a draft is tested: it has no network, whatever it declares. */
  isDraft?: boolean;
  /** Whether a repair wrote the code: it is rehearsed with the hosts that `of` reached and without credentials. */
  isUnread?: boolean;
  /** The run that is rehearsed. */
  of?: Run | null;
}

/** @throws AppError 409 `version_not_approved`, which names the version and what it would reach */
export async function admitCode(sql: Sql, dashboardUrl: string, admission: Admission): Promise<RunSpec> {
  const { worker, runnable, isUnread = false, of: recordedRun = null } = admission;
  const { spec } = runnable;
  if (await isUnapproved(sql, worker.uid, runnable)) {
    const { definition, approvalSha } = runnable;
    const reach = listReach(admission.isDraft ? { ...definition, network: 'none' } : definition);
    if (!reach.length) return restrictSpec(spec);
    throw conflict('version_not_approved', describeWaiting(dashboardUrl, worker.id, approvalSha ?? '', reach));
  }
  return isUnread ? narrowSpec(sql, spec, recordedRun) : spec;
}

/** Returns whether the code is refused until a person approves it. */
export const waitsForApproval = async (sql: Sql, workerUid: string, runnable: Runnable): Promise<boolean> =>
  (await isUnapproved(sql, workerUid, runnable)) && listReach(runnable.definition).length > 0;

export const isUnapproved = async (sql: Sql, workerUid: string, { approvalSha }: Runnable): Promise<boolean> =>
  approvalSha !== null && !(await isApproved(sql, workerUid, approvalSha));

/** Removes `call`: the code could otherwise let an approved worker act in its place. */
const restrictSpec = (spec: RunSpec): RunSpec => ({ ...spec, network: 'none', may: ['approve'] });

/** For unreviewed code: the hosts that the recorded run has reached, and no credential itself. */
async function narrowSpec(sql: Sql, spec: RunSpec, recordedRun: Run | null): Promise<RunSpec> {
  const { expose: _, inBody: __, ...rest } = spec;
  const hosts = recordedRun && spec.network === 'egress' ? await listReachedHosts(sql, recordedRun.id) : [];
  const allowedHosts = hosts.filter((host) => hostPattern.safeParse(host).success);
  return allowedHosts.length ? { ...rest, allowedHosts } : { ...rest, network: 'none' };
}
