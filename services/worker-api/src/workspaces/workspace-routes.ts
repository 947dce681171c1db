import type { WorkspaceClosures } from '@gantry/events';
import { callerOf, type Operations } from '@gantry/http';
import { actorOf } from '../audit/actor';
import type { Forget } from '../forget';
import type { PrismaClient } from '../generated/prisma/client';
import { unlimitedUserOf, userOf } from '../identity/person';
import { deleteWorkspace, oldestRestorable, restoreWorkspace } from './delete-workspace';
import { workspacesToApi, workspaceToApi } from './workspace';
import { getWorkspace, listDeletedWorkspaces, listWorkspaces } from './workspace-repository';
import { createWorkspace, renameWorkspace, selectWorkspace } from './workspace-service';

export function workspaceOperations(deps: {
  prisma: PrismaClient;
  closures: WorkspaceClosures;
  forget: Forget;
}): Operations {
  const { prisma, closures, forget } = deps;
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
    createWorkspace: async (req, res) => {
      const userId = await unlimitedUserOf(prisma, callerOf(req));
      const workspace = await createWorkspace(prisma, userId, actorOf(req), req.body.name);
      forget.user(userId);
      res.status(201).json(workspaceToApi(workspace, 'owner', false));
    },
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
      forget.workspace(workspaceId);
      res.json(workspaceToApi(workspace, role, false));
    },
    restoreWorkspace: async (req, res) => {
      const workspaceId = String(req.params.workspace_id);
      const userId = await unlimitedUserOf(prisma, callerOf(req));
      const { workspace, closure } = await restoreWorkspace(prisma, workspaceId, userId, actorOf(req));
      closures.note(closure);
      forget.everybody();
      res.json(workspaceToApi(workspace, 'owner', false));
    },
    selectWorkspace: async (req, res) => {
      const caller = callerOf(req);
      await selectWorkspace(prisma, caller);
      if (caller.kind === 'personal_token' && caller.tokenId) forget.token(caller.tokenId);
      else if (caller.userId) forget.user(caller.userId);
      res.json(workspaceToApi(await getWorkspace(prisma, caller.workspaceId), caller.role, true));
    },
  };
}
