/** Maps a worker to its API representation. */
import { createPermissionTable, toApiFields } from '@gantry/http';
import { isPerson, type Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import { canManage } from '../access/ownership';
import { sumBytes, treeVersionToItem } from '../file-trees/tree-version';
import type { VersionApproval } from '../generated/prisma/client';
import { getNextRunAt, getTriggerType, triggersToApi } from '../triggers/trigger';
import type { SkillNews } from './known-skills';
import { sandboxToApi } from './used-sandbox';
import { approvalToApi } from './version-approval';
import type { ListedVersion, Version } from './version-repository';
import type { WorkerWithTriggers } from './worker-repository';
import type { WorkerFacts } from './worker-stats';

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
    approve_version: permissions.approve_version && isPerson(caller),
  };
}

export interface ShownWorker {
  worker: WorkerWithTriggers;
  facts: WorkerFacts;
  caller: Principal;
  baseUrl: string;
}

/** Without its definition: what a list needs. */
export function workerToItem({ worker, facts, caller, baseUrl }: ShownWorker) {
  const { status, currentVersion, triggers } = worker;
  const nextRunAt = status === 'active' ? getNextRunAt(triggers) : null;
  return {
    ...toApiFields(worker, 'id', 'name', 'description', 'status', 'runner', 'visibility', 'ownerId', 'tags'),
    ...toApiFields(worker, 'evaluateOnSave', 'createdAt', 'updatedAt'),
    health: facts.health,
    trigger_type: getTriggerType(triggers),
    triggers: triggersToApi(worker, triggers, baseUrl),
    version: currentVersion,
    sha: facts.sha,
    version_approval: facts.approval,
    missing_secrets: facts.missingSecrets,
    connection_problems: facts.connectionProblems,
    model_problem: facts.references.modelProblem,
    missing_workers: facts.references.missingWorkers,
    last_run: facts.lastRun?.createdAt.toISOString() ?? null,
    last_run_id: facts.lastRun?.id ?? null,
    last_run_status: facts.lastRun?.status ?? null,
    last_sandbox: sandboxToApi(facts.lastSandbox),
    next_run_at: nextRunAt?.toISOString() ?? null,
    permissions: listPermissions(caller, worker),
  };
}

export function workerToApi({
  definition,
  news,
  ...shown
}: ShownWorker & Pick<Version, 'definition'> & { news: SkillNews }) {
  return { ...workerToItem(shown), ...definition, skill_update: news.update, skill_deleted: news.isDeleted };
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
