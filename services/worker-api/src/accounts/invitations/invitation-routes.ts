import type { IdentityCache } from '@gantry/auth';
import { actorBy, actorOf, callerOf, creating, madeBy, type Operations, type Revisit } from '@gantry/http';
import type { Response } from 'express';
import { clientOf, type SessionCookie } from '../auth/session-cookie';
import { unlimitedUserOf } from '../identity/person';
import { userToApi } from '../users/user';
import { workspaceToApi } from '../workspaces/workspace';
import { type AcceptDeps, acceptInvitation, lookUpInvitation, registerByInvitation } from './accept-invitation';
import { invitationToApi } from './invitation';
import { getInvitation, listInvitations } from './invitation-repository';
import { type InviteDeps, type Invited, inviteMember, resendInvitation, withdrawInvitation } from './invite-member';

export interface InvitationDeps extends InviteDeps, AcceptDeps {
  sessionCookie: SessionCookie;
  identities: IdentityCache;
}

export function invitationOperations(deps: InvitationDeps): Operations {
  const { prisma, sessionCookie, identities } = deps;
  const invited: Revisit = { see: (req, id) => getInvitation(prisma, callerOf(req).workspaceId, id) };
  return {
    inviteMember: creating(async (req, res) => {
      sendInvited(res, await inviteMember(deps, callerOf(req), actorOf(req), madeBy(req), req.body));
    }, invited),
    resendInvitation: creating(async (req, res) => {
      const id = String(req.params.invitation_id);
      sendInvited(res, await resendInvitation(deps, callerOf(req), actorOf(req), madeBy(req), id));
    }, invited),
    listInvitations: async (req, res) => {
      res.json((await listInvitations(prisma, callerOf(req).workspaceId)).map(invitationToApi));
    },
    withdrawInvitation: async (req, res) => {
      const id = String(req.params.invitation_id);
      await withdrawInvitation(prisma, callerOf(req).workspaceId, actorOf(req), id);
      res.status(204).end();
    },
    lookUpInvitation: async (req, res) => {
      res.json(await lookUpInvitation(deps, req.body.token));
    },
    acceptInvitation: async (req, res) => {
      const caller = callerOf(req);
      const userId = await unlimitedUserOf(prisma, caller);
      const accepted = await acceptInvitation(deps, { userId, caller }, actorOf(req), req.body.token);
      const { workspace, invitation, ended } = accepted;
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(userId);
      res.json(workspaceToApi(workspace, invitation.role, false));
    },
    registerByInvitation: async (req, res) => {
      const made = await registerByInvitation(deps, req.body, clientOf(req), actorBy(req, 'link'));
      identities.evictUser(made.user.id);
      const access = await sessionCookie.answer(res, made.session);
      const workspace = workspaceToApi(made.workspace, made.invitation.role, true);
      res.status(201).json({ ...access, user: userToApi(made.user), workspace });
    },
  };
}

function sendInvited(res: Response, { invitation, emailSent, url }: Invited): void {
  res.status(201).json({ ...invitationToApi(invitation), email_sent: emailSent, invite_url: url });
}
