import { callerOf, creating, madeBy, type Operations } from '@gantry/http';
import { actorOf } from '../audit/actor';
import { createResetLink, type ResetDeps } from '../auth/password-reset';
import type { Forget } from '../forget';
import { unlimitedUserOf, userOf } from '../identity/person';
import { memberToApi } from './member';
import { getMember, listMembers } from './member-repository';
import { changeRole, leaveWorkspace, removeMember, transferOwnership } from './member-service';

export interface MemberDeps extends ResetDeps {
  forget: Forget;
}

export function memberOperations(deps: MemberDeps): Operations {
  const { prisma, forget } = deps;
  return {
    listMembers: async (req, res) => {
      const caller = callerOf(req);
      res.json((await listMembers(prisma, caller.workspaceId)).map((member) => memberToApi(member, caller)));
    },
    changeMemberRole: async (req, res) => {
      const caller = callerOf(req);
      const userId = String(req.params.user_id);
      const member = await changeRole(prisma, caller, actorOf(req), userId, req.body.role);
      forget.user(userId);
      res.json(memberToApi(member, caller));
    },
    removeMember: async (req, res) => {
      const userId = String(req.params.user_id);
      await removeMember(prisma, callerOf(req), actorOf(req), userId);
      forget.user(userId);
      res.status(204).end();
    },
    leaveWorkspace: async (req, res) => {
      const caller = callerOf(req);
      const userId = await unlimitedUserOf(prisma, caller);
      await leaveWorkspace(prisma, caller.workspaceId, actorOf(req), userId);
      forget.user(userId);
      res.status(204).end();
    },
    transferWorkspace: async (req, res) => {
      const caller = callerOf(req);
      const fromUserId = userOf(caller);
      const toUserId: string = req.body.user_id;
      await transferOwnership(prisma, caller.workspaceId, actorOf(req), fromUserId, toUserId);
      forget.user(fromUserId);
      forget.user(toUserId);
      res.status(204).end();
    },
    createPasswordResetLink: creating(
      async (req, res) => {
        const userId = String(req.params.user_id);
        const link = await createResetLink(deps, callerOf(req), actorOf(req), madeBy(req), userId);
        res.status(201).json({ reset_url: link.url, expires_at: link.expiresAt.toISOString() });
      },
      { see: (req, userId) => getMember(prisma, callerOf(req).workspaceId, userId) },
    ),
  };
}
