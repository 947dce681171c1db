import { type Call, created, type Operations, ok, paginate, respondWithPage } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import type { AccountDeps } from '../account-deps';
import { getUnrestrictedUserId, getUserId } from '../identity/caller-user';
import { getMember } from '../members/member-repository';
import { computeRestoreCutoff, deleteWorkspace, restoreWorkspace } from './delete-workspace';
import { workspacesToApi, workspaceToApi } from './workspace';
import { getWorkspace, listDeletedWorkspaces, listWorkspaces } from './workspace-repository';
import { getRetention } from './workspace-retention';
import { createWorkspace, setDefaultWorkspace, updateWorkspace } from './workspace-service';

export function createWorkspaceOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, pool, retention: bounds, closures, identities } = deps;
  const loadWorkspaceDetails = async ({ workspaceId, role }: Principal) => {
    const workspace = await getWorkspace(prisma, workspaceId);
    return {
      ...workspaceToApi(workspace, role, true),
      retention: await getRetention(pool, workspaceId, bounds),
      models: { monthly_budget_usd: workspace.modelBudgetUsd },
    };
  };

  /** Returns a workspace with the role of the caller, who is a member. @throws AppError 403, 404 */
  async function getMemberWorkspace({ caller }: Pick<Call, 'caller'>, workspaceId: string) {
    const userId = await getUnrestrictedUserId(prisma, caller);
    const { role } = await getMember(prisma, workspaceId, userId);
    return { workspace: await getWorkspace(prisma, workspaceId), role };
  }

  return {
    listWorkspaces: async (call) => {
      const { caller, query } = call;
      if (query.deleted) {
        const deleted = await listDeletedWorkspaces(prisma, getUserId(caller), computeRestoreCutoff());
        return respondWithPage(call, deleted, (workspace) => workspaceToApi(workspace, 'owner', false));
      }
      const { rows, headers } = paginate(call, await listWorkspaces(prisma, Object.keys(caller.memberships)));
      return ok(workspacesToApi(rows, caller), headers);
    },
    createWorkspace: {
      create: async (call) => {
        const userId = await getUnrestrictedUserId(prisma, call.caller);
        const workspace = await createWorkspace(prisma, userId, call, call.body.name);
        identities.evictUser(userId);
        return created(workspaceToApi(workspace, 'owner', false));
      },
      assertVisible: getMemberWorkspace,
      answer: async (call, workspaceId) => {
        const { workspace, role } = await getMemberWorkspace(call, workspaceId);
        return created(workspaceToApi(workspace, role, false));
      },
    },
    getWorkspace: async ({ caller }) => ok(await loadWorkspaceDetails(caller)),
    updateWorkspace: async (call) => {
      await updateWorkspace({ pool, bounds }, call, call.body);
      return ok(await loadWorkspaceDetails(call.caller));
    },
    deleteWorkspace: async (call) => {
      const { workspace, closure } = await deleteWorkspace(prisma, call);
      closures.note(closure);
      identities.evictWorkspace(workspace.id);
      return ok(workspaceToApi(workspace, call.caller.role, false));
    },
    restoreWorkspace: async ({ caller, actor, path }) => {
      const workspaceId = path.workspace_id;
      const userId = await getUnrestrictedUserId(prisma, caller);
      const { workspace, closure } = await restoreWorkspace(prisma, workspaceId, userId, actor);
      closures.note(closure);
      identities.clear();
      return ok(workspaceToApi(workspace, 'owner', false));
    },
    selectWorkspace: async ({ caller }) => {
      await setDefaultWorkspace(prisma, caller);
      if (caller.kind === 'personal_token' && caller.tokenId) identities.evictToken(caller.tokenId);
      else if (caller.userId) identities.evictUser(caller.userId);
      return ok(workspaceToApi(await getWorkspace(prisma, caller.workspaceId), caller.role, true));
    },
  };
}
