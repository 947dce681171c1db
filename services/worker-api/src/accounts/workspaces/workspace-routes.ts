import type { IdentityCache } from '@gantry/auth';
import type { WorkspaceClosures } from '@gantry/events';
import { actorOf, callerOf, creating, madeBy, type Operations } from '@gantry/http';
import type { Request } from 'express';
import type { PrismaClient } from '../../generated/prisma/client';
import { unlimitedUserOf, userOf } from '../identity/person';
import { getMember } from '../members/member-repository';
import { deleteWorkspace, oldestRestorable, restoreWorkspace } from './delete-workspace';
import { workspacesToApi, workspaceToApi } from './workspace';
import { getWorkspace, listDeletedWorkspaces, listWorkspaces } from './workspace-repository';
import { createWorkspace, renameWorkspace, selectWorkspace } from './workspace-service';

export function workspaceOperations(deps: {
  prisma: PrismaClient;
  closures: WorkspaceClosures;
  identities: IdentityCache;
}): Operations {
  const { prisma, closures, identities } = deps;
  /** With the role of the caller, who is a member. @throws AppError 403, 404 */
  async function getJoined(req: Request, workspaceId: string) {
    const userId = await unlimitedUserOf(prisma, callerOf(req));
    const { role } = await getMember(prisma, workspaceId, userId);
    return { workspace: await getWorkspace(prisma, workspaceId), role };
  }

  return {
    listWorkspaces: async (req, res) => {
      const caller = callerOf(req);
      if (String(req.query.deleted) === 'true') {
        const deleted = await listDeletedWorkspaces(prisma, userOf(caller), oldestRestorable());
        res.json(deleted.map((workspace) => workspaceToApi(workspace, 'owner', false)));
        return;
      }
      res.json(workspacesToApi(await listWorkspaces(prisma, Object.keys(caller.memberships)), caller));
    },
    createWorkspace: creating(
      async (req, res) => {
        const userId = await unlimitedUserOf(prisma, callerOf(req));
        const workspace = await createWorkspace(prisma, userId, actorOf(req), madeBy(req), req.body.name);
        identities.evictUser(userId);
        res.status(201).json(workspaceToApi(workspace, 'owner', false));
      },
      {
        see: getJoined,
        answer: async (req, res, workspaceId) => {
          const { workspace, role } = await getJoined(req, workspaceId);
          res.status(201).json(workspaceToApi(workspace, role, false));
        },
      },
    ),
    getWorkspace: async (req, res) => {
      const { workspaceId, role } = callerOf(req);
      res.json(workspaceToApi(await getWorkspace(prisma, workspaceId), role, true));
    },
    updateWorkspace: async (req, res) => {
      const { workspaceId, role } = callerOf(req);
      const workspace = await renameWorkspace(prisma, workspaceId, actorOf(req), req.body.name);
      res.json(workspaceToApi(workspace, role, true));
    },
    deleteWorkspace: async (req, res) => {
      const { workspaceId, role } = callerOf(req);
      const { workspace, closure } = await deleteWorkspace(prisma, workspaceId, actorOf(req));
      closures.note(closure);
      identities.evictWorkspace(workspaceId);
      res.json(workspaceToApi(workspace, role, false));
    },
    restoreWorkspace: async (req, res) => {
      const workspaceId = String(req.params.workspace_id);
      const userId = await unlimitedUserOf(prisma, callerOf(req));
      const { workspace, closure } = await restoreWorkspace(prisma, workspaceId, userId, actorOf(req));
      closures.note(closure);
      identities.clear();
      res.json(workspaceToApi(workspace, 'owner', false));
    },
    selectWorkspace: async (req, res) => {
      const caller = callerOf(req);
      await selectWorkspace(prisma, caller);
      if (caller.kind === 'personal_token' && caller.tokenId) identities.evictToken(caller.tokenId);
      else if (caller.userId) identities.evictUser(caller.userId);
      res.json(workspaceToApi(await getWorkspace(prisma, caller.workspaceId), caller.role, true));
    },
  };
}
