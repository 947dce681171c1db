import type { IdentityCache } from '@gantry/auth';
import { actorOf, callerOf, type Operations } from '@gantry/http';
import type { PrismaClient } from '../../generated/prisma/client';
import { unlimitedUserOf, userOf } from '../identity/person';
import { memberToApi } from './member';
import { listMembers } from './member-repository';
import { changeRole, leaveWorkspace, removeMember, transferOwnership } from './member-service';

export interface MemberDeps {
  prisma: PrismaClient;
  identities: IdentityCache;
}

export function memberOperations({ prisma, identities }: MemberDeps): Operations {
  return {
    listMembers: async (req, res) => {
      const caller = callerOf(req);
      res.json((await listMembers(prisma, caller.workspaceId)).map((member) => memberToApi(member, caller)));
    },
    changeMemberRole: async (req, res) => {
      const caller = callerOf(req);
      const userId = String(req.params.user_id);
      const member = await changeRole(prisma, caller, actorOf(req), userId, req.body.role);
      identities.evictUser(userId);
      res.json(memberToApi(member, caller));
    },
    removeMember: async (req, res) => {
      const userId = String(req.params.user_id);
      await removeMember(prisma, callerOf(req), actorOf(req), userId);
      identities.evictUser(userId);
      res.status(204).end();
    },
    leaveWorkspace: async (req, res) => {
      const caller = callerOf(req);
      const userId = await unlimitedUserOf(prisma, caller);
      await leaveWorkspace(prisma, caller.workspaceId, actorOf(req), userId);
      identities.evictUser(userId);
      res.status(204).end();
    },
    transferWorkspace: async (req, res) => {
      const caller = callerOf(req);
      const fromUserId = userOf(caller);
      const toUserId: string = req.body.user_id;
      await transferOwnership(prisma, caller.workspaceId, actorOf(req), fromUserId, toUserId);
      identities.evictUser(fromUserId);
      identities.evictUser(toUserId);
      res.status(204).end();
    },
  };
}
