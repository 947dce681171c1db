import type { IdentityCache } from '@gantry/auth';
import { noContent, type Operations, ok, okPage } from '@gantry/http';
import type { PrismaClient } from '../../generated/prisma/client';
import { unlimitedUserOf, userOf } from '../identity/person';
import { memberToApi } from './member';
import { listMembers } from './member-repository';
import { changeRole, leaveWorkspace, removeMember, transferOwnership } from './member-service';

export interface MemberDeps {
  prisma: PrismaClient;
  identities: IdentityCache;
}

export function memberOperations({ prisma, identities }: MemberDeps): Operations<'worker'> {
  return {
    listMembers: async (call) => {
      const members = await listMembers(prisma, call.caller.workspaceId);
      return okPage(call, members, (member) => memberToApi(member, call.caller));
    },
    changeMemberRole: async ({ caller, actor, path, body }) => {
      const userId = path.user_id;
      const member = await changeRole(prisma, caller, actor, userId, body.role);
      identities.evictUser(userId);
      return ok(memberToApi(member, caller));
    },
    removeMember: async ({ caller, actor, path }) => {
      const userId = path.user_id;
      await removeMember(prisma, caller, actor, userId);
      identities.evictUser(userId);
      return noContent();
    },
    leaveWorkspace: async ({ caller, actor }) => {
      const userId = await unlimitedUserOf(prisma, caller);
      await leaveWorkspace(prisma, caller.workspaceId, actor, userId);
      identities.evictUser(userId);
      return noContent();
    },
    transferWorkspace: async ({ caller, actor, body }) => {
      const fromUserId = userOf(caller);
      const toUserId: string = body.user_id;
      await transferOwnership(prisma, caller.workspaceId, actor, fromUserId, toUserId);
      identities.evictUser(fromUserId);
      identities.evictUser(toUserId);
      return noContent();
    },
  };
}
