/** The API representation of contexts, their versions and findings. */
import { createPermissionTable, toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import { canManage } from '../access/ownership';
import { type DeclaringWorker, usedByToApi } from '../declarations/declaring-workers';
import { sumBytes, treeVersionToItem } from '../file-trees/tree-version';
import type { Context } from '../generated/prisma/client';
import type { Version } from './context-repository';

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  edit: 'updateContext',
  delete: 'deleteContext',
  change_visibility: 'setContextVisibility',
});

export interface ContextView {
  context: Context;
  version: Version;
  caller: Principal;
  usedBy: DeclaringWorker[] | undefined;
}

export function contextToApi({ context, version, caller, usedBy }: ContextView) {
  const permissions = permissionsFor(caller.role, caller.restriction);
  const canDelete = canManage(caller, context);
  return {
    ...toApiFields(context, 'name', 'description', 'visibility', 'writeable', 'ownerId', 'createdAt', 'updatedAt'),
    ...summarizeFiles(version),
    version: version.number,
    sha: version.sha,
    used_by: usedByToApi(caller, usedBy),
    findings: version.findings,
    permissions: {
      ...permissions,
      delete: permissions.delete && canDelete,
      change_visibility: permissions.change_visibility && canDelete,
    },
  };
}

export function versionToItem(version: Version, currentVersion: number) {
  return {
    ...treeVersionToItem(version, currentVersion),
    run_id: version.runId,
    ...summarizeFiles(version),
  };
}

const summarizeFiles = ({ files }: Version) => ({
  file_count: files.length,
  total_size_bytes: sumBytes(files),
});
