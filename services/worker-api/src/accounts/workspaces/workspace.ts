import type { Role } from '@gantry/events';
import { createPermissionTable, toApiFields } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { openapiFiles } from '@gantry/openapi';
import type { Workspace } from '../../generated/prisma/client';

const permissionsFor = createPermissionTable(openapiFiles.worker, {
  update: 'updateWorkspace',
  delete: 'deleteWorkspace',
  transfer: 'transferWorkspace',
  invite: 'inviteMember',
  manage_members: 'changeMemberRole',
  manage_tokens: 'createWorkspaceToken',
  read_audit_log: 'listAuditLog',
});

/** A deleted workspace can be restored for this long. */
export const RESTORE_DAYS = 7;

export const computePurgeTime = (deletedAt: Date): Date => new Date(deletedAt.getTime() + RESTORE_DAYS * 86_400_000);

export function workspaceToApi(workspace: Workspace, role: Role, active: boolean) {
  const { deletedAt } = workspace;
  return {
    ...toApiFields(workspace, 'id', 'name', 'createdAt', 'allowExposedCredentials'),
    role,
    active,
    ...(deletedAt && { deleted_at: deletedAt.toISOString(), purge_at: computePurgeTime(deletedAt).toISOString() }),
    permissions: permissionsFor(role),
  };
}

/** Lists the workspaces that the principal may enter, with this credential's role in each. */
export function workspacesToApi(workspaces: Workspace[], { memberships, workspaceId }: Principal) {
  return workspaces.flatMap((workspace) => {
    const role = memberships[workspace.id];
    return role ? [workspaceToApi(workspace, role, workspace.id === workspaceId)] : [];
  });
}
