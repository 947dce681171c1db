import { noContent, type Operations, ok, respondWithPage } from '@gantry/http';
import type { AccountDeps } from '../account-deps';
import { getUnrestrictedUserId, getUserId } from '../identity/caller-user';
import { memberToApi } from './member';
import { listMembers } from './member-repository';
import { changeMemberRole, leaveWorkspace, removeMember, transferOwnership } from './member-service';

export function createMemberOperations({ prisma, identities }: AccountDeps): Operations<'worker'> {
  return {
    listMembers: async (call) => {
      const members = await listMembers(prisma, call.caller.workspaceId);
      return respondWithPage(call, members, (member) => memberToApi(member, call.caller));
    },
    changeMemberRole: async (call) => {
      const member = await changeMemberRole(prisma, call, call.path.user_id, call.body.role);
      identities.evictUser(member.userId);
      return ok(memberToApi(member, call.caller));
    },
    removeMember: async (call) => {
      await removeMember(prisma, call, call.path.user_id);
      identities.evictUser(call.path.user_id);
      return noContent();
    },
    leaveWorkspace: async (call) => {
      const userId = await getUnrestrictedUserId(prisma, call.caller);
      await leaveWorkspace(prisma, call, userId);
      identities.evictUser(userId);
      return noContent();
    },
    transferWorkspace: async (call) => {
      const fromUserId = getUserId(call.caller);
      const toUserId = call.body.user_id;
      await transferOwnership(prisma, call, fromUserId, toUserId);
      identities.evictUser(fromUserId);
      identities.evictUser(toUserId);
      return noContent();
    },
  };
}
