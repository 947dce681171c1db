import type { Role } from '@gantry/events';
import type { Principal } from '@gantry/http';
import type { Workspace } from '../generated/prisma/client';

export function workspaceToApi({ id, name, createdAt }: Workspace, role: Role, active: boolean) {
  return { id, name, role, active, created_at: createdAt.toISOString() };
}

/** The workspaces that the principal may enter, with the role that this credential has there. */
export function workspacesToApi(workspaces: Workspace[], { memberships, workspaceId }: Principal) {
  return workspaces.flatMap((workspace) => {
    const role = memberships[workspace.id];
    return role ? [workspaceToApi(workspace, role, workspace.id === workspaceId)] : [];
  });
}
