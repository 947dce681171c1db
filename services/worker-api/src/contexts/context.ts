/** The API representation of contexts, their versions and findings. */
import { apiFields, type Principal, permissionTable } from '@gantry/http';
import { openapiFiles } from '@gantry/openapi';
import { type DeclaringWorker, usedByToApi } from '../declarations/workers-that-declare';
import { bytesOf, treeVersionToItem } from '../file-trees/tree-version';
import type { Context } from '../generated/prisma/client';
import { canTakeAway } from '../ownership';
import type { Version } from './context-repository';

const permissionsFor = permissionTable(openapiFiles.worker, {
  edit: 'updateContext',
  delete: 'deleteContext',
  change_visibility: 'setContextVisibility',
});

export interface ShownContext {
  context: Context;
  version: Version;
  caller: Principal;
  usedBy: DeclaringWorker[] | undefined;
}

export function contextToApi({ context, version, caller, usedBy }: ShownContext) {
  const permissions = permissionsFor(caller.role, caller.restriction);
  const mayTakeAway = canTakeAway(caller, context);
  return {
    ...apiFields(context, 'name', 'description', 'visibility', 'writeable', 'ownerId', 'createdAt', 'updatedAt'),
    ...sizesOf(version),
    version: version.number,
    sha: version.sha,
    used_by: usedByToApi(caller, usedBy),
    findings: version.findings,
    permissions: {
      ...permissions,
      delete: permissions.delete && mayTakeAway,
      change_visibility: permissions.change_visibility && mayTakeAway,
    },
  };
}

export function versionToItem(version: Version, currentVersion: number) {
  return {
    ...treeVersionToItem(version, currentVersion),
    run_id: version.runId,
    ...sizesOf(version),
  };
}

const sizesOf = ({ files }: Version) => ({
  file_count: files.length,
  total_size_bytes: bytesOf(files),
});
