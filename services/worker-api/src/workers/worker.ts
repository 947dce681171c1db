/** Maps a worker to its API representation. */
import { createPermissionTable, toApiFields } from '@gantry/http';
import { isUnrestrictedPerson, type Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import { canManage } from '../access/ownership';
import { sumBytes, treeVersionToItem } from '../file-trees/tree-version';
import type { VersionApproval } from '../generated/prisma/client';
import { findNextFireTime, getTriggerType, triggersToApi } from '../triggers/trigger';
import type { SkillUpdate } from './known-skills';
import { sandboxToApi } from './used-sandbox';
import { approvalToApi } from './version-approval';
import type { ListedVersion, Version } from './version-repository';
import type { WorkerWithTriggers } from './worker-repository';
import type { WorkerStats } from './worker-stats';

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  edit: 'updateWorker',
  pause: 'pauseWorker',
  archive: 'archiveWorker',
  delete: 'deleteWorker',
  change_visibility: 'setWorkerVisibility',
  approve_version: 'approveVersion',
});

function listPermissions(caller: Principal, worker: WorkerWithTriggers) {
  const permissions = permissionsFor(caller.role, caller.restriction);
  const canDelete = canManage(caller, worker);
  return {
    ...permissions,
    run: permissions.edit,
    delete: permissions.delete && canDelete,
    change_visibility: permissions.change_visibility && canDelete,
    approve_version: permissions.approve_version && isUnrestrictedPerson(caller),
  };
}

export interface WorkerView {
  worker: WorkerWithTriggers;
  stats: WorkerStats;
  caller: Principal;
  baseUrl: string;
}

/** Without its definition: what a list needs. */
export function workerToItem({ worker, stats, caller, baseUrl }: WorkerView) {
  const { status, currentVersion, triggers } = worker;
  const nextRunAt = status === 'active' ? findNextFireTime(triggers) : null;
  return {
    ...toApiFields(worker, 'id', 'name', 'description', 'status', 'runner', 'visibility', 'ownerId', 'tags'),
    ...toApiFields(worker, 'evaluateOnSave', 'createdAt', 'updatedAt'),
    ...toApiFields(stats, 'health', 'sha', 'missingSecrets', 'connectionProblems'),
    trigger_type: getTriggerType(triggers),
    triggers: triggersToApi(worker, triggers, baseUrl),
    version: currentVersion,
    version_approval: stats.approval,
    model_problem: stats.references.modelProblem,
    missing_workers: stats.references.missingWorkers,
    last_run: stats.lastRun?.createdAt.toISOString() ?? null,
    last_run_id: stats.lastRun?.id ?? null,
    last_run_status: stats.lastRun?.status ?? null,
    last_sandbox: sandboxToApi(stats.lastSandbox),
    next_run_at: nextRunAt?.toISOString() ?? null,
    permissions: listPermissions(caller, worker),
  };
}

export function workerToApi({
  definition,
  skillUpdate,
  ...shown
}: WorkerView & Pick<Version, 'definition'> & { skillUpdate: SkillUpdate }) {
  return {
    ...workerToItem(shown),
    ...definition,
    skill_update: skillUpdate.update,
    skill_deleted: skillUpdate.isDeleted,
  };
}

export function versionToItem(
  version: ListedVersion,
  { currentVersion, approval }: { currentVersion: number; approval: VersionApproval | undefined },
) {
  return {
    ...treeVersionToItem(version, currentVersion),
    total_size: sumBytes(version.files),
    version_approval: approvalToApi(version, approval),
  };
}
