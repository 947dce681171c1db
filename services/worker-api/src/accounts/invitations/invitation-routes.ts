import {
  buildLinkActor,
  type Call,
  created,
  type HandlerResponse,
  noContent,
  type Operations,
  ok,
  respondWithPage,
} from '@gantry/http';
import type { AccountDeps } from '../account-deps';
import { getClientInfo } from '../auth/session-cookie';
import { getUnrestrictedUserId } from '../identity/caller-user';
import { userToApi } from '../users/user';
import { workspaceToApi } from '../workspaces/workspace';
import { acceptInvitation, getInvitationPreview, registerWithInvitation } from './accept-invitation';
import { invitationToApi } from './invitation';
import { getInvitation, listInvitations } from './invitation-repository';
import { inviteMember, resendInvitation, type SentInvitation, withdrawInvitation } from './invite-member';

export function createInvitationOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, sessionCookie, identities } = deps;
  const invitationAccess = {
    assertVisible: ({ caller }: Pick<Call, 'caller'>, id: string) => getInvitation(prisma, caller.workspaceId, id),
  };
  return {
    inviteMember: {
      create: async (call) => toInvitationResponse(await inviteMember(deps, call, call.body)),
      ...invitationAccess,
    },
    resendInvitation: {
      create: async (call) => toInvitationResponse(await resendInvitation(deps, call, call.path.invitation_id)),
      ...invitationAccess,
    },
    listInvitations: async (call) =>
      respondWithPage(call, await listInvitations(prisma, call.caller.workspaceId), invitationToApi),
    withdrawInvitation: async (call) => withdrawInvitation(prisma, call, call.path.invitation_id).then(noContent),
    lookUpInvitation: async ({ body }) => ok(await getInvitationPreview(deps, body.token)),
    acceptInvitation: async ({ caller, actor, body }) => {
      const userId = await getUnrestrictedUserId(prisma, caller);
      const accepted = await acceptInvitation(deps, { userId, caller }, actor, body.token);
      const { workspace, invitation, ended } = accepted;
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(userId);
      return ok(workspaceToApi(workspace, invitation.role, false));
    },
    registerByInvitation: async ({ body, req, res }) => {
      sessionCookie.requireOwnPage(req);
      const registration = await registerWithInvitation(deps, body, getClientInfo(req), buildLinkActor(req, 'link'));
      identities.evictUser(registration.user.id);
      const access = await sessionCookie.answer(res, registration.session);
      const workspace = workspaceToApi(registration.workspace, registration.invitation.role, true);
      return created({ ...access, user: userToApi(registration.user), workspace });
    },
  };
}

const toInvitationResponse = ({ invitation, emailSent, url }: SentInvitation): HandlerResponse =>
  created({ ...invitationToApi(invitation), email_sent: emailSent, invite_url: url });
