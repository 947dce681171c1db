import { callerOf, notFound, type Operations } from '@gantry/http';
import type { PrismaClient } from '../generated/prisma/client';
import { workspacesToApi } from './workspace';
import { listWorkspaces } from './workspace-repository';

export function workspaceOperations({ prisma }: { prisma: PrismaClient }): Operations {
  return {
    listWorkspaces: async (req, res) => {
      const caller = callerOf(req);
      res.json(workspacesToApi(await listWorkspaces(prisma, Object.keys(caller.memberships)), caller));
    },
    getWorkspace: async (req, res) => {
      const caller = callerOf(req);
      const id = String(req.params.workspace_id);
      if (!Object.hasOwn(caller.memberships, id)) throw notFound('workspace', id);
      const [workspace] = workspacesToApi(await listWorkspaces(prisma, [id]), caller);
      if (!workspace) throw notFound('workspace', id);
      res.json(workspace);
    },
  };
}
