import { forbidden } from '@gantry/errors';
import { buildLinkActor, created, type Operations, ok, respondWith } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import { recordChange } from '../../audit/audit-entry';
import type { AccountDeps } from '../account-deps';
import { getSignedInUserId } from '../identity/caller-user';
import { getMember } from '../members/member-repository';
import { userToApi } from '../users/user';
import { sendVerificationEmail, verifyEmail } from './email-verification';
import { verifyPassword } from './password';
import {
  createPasswordResetLink,
  hashNewPassword,
  resetPassword,
  sendPasswordResetLink,
  setPassword,
} from './password-reset';
import { getClientInfo } from './session-cookie';

export function createPasswordOperations(deps: AccountDeps): Operations<'worker'> {
  const { prisma, sessions, sessionCookie, mailer, identities, log } = deps;
  return {
    changePassword: async ({ caller, actor, body, req, res }) => {
      const userId = getSignedInUserId(caller);
      const { current_password, new_password } = body;
      const user = await prisma.user.findUniqueOrThrow({ where: { id: userId }, include: { credential: true } });
      if (!(await verifyPassword(user.credential?.passwordHash ?? null, current_password))) {
        throw forbidden('wrong_password', 'current_password: this is not your password');
      }
      const passwordHash = await hashNewPassword(new_password, user.email);
      const { session, ended } = await transaction(prisma, async (tx) => {
        await setPassword(tx, userId, passwordHash);
        const closed = await sessions.closeAllOf(tx, userId);
        await recordChange(tx, actor, 'user.password_changed', { workspaceId: caller.workspaceId, id: userId });
        return { session: await sessions.open(tx, userId, getClientInfo(req)), ended: closed };
      });
      for (const id of ended) identities.evictToken(id);
      return ok(await sessionCookie.answer(res, session));
    },
    requestPasswordReset: ({ body, req }) => {
      if (mailer.isConfigured) {
        // Not awaited: the response time would reveal whether the account exists.
        const sending = sendPasswordResetLink(deps, buildLinkActor(req, 'link'), body.email);
        sending.catch((err) => log.error({ err, requestId: req.id }, 'password reset email could not be sent'));
      }
      return respondWith(202, { delivery: mailer.isConfigured ? 'email' : 'ask_admin' });
    },
    requestEmailVerification: async (call) => respondWith(202, { email: await sendVerificationEmail(deps, call) }),
    verifyEmail: async (call) => {
      const { user, ended } = await verifyEmail(deps, call, call.body.token);
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(user.id);
      return ok(userToApi(user));
    },
    createPasswordResetLink: {
      create: async (call) => {
        const link = await createPasswordResetLink(deps, call, call.path.user_id);
        return created({ reset_url: link.url, expires_at: link.expiresAt.toISOString() });
      },
      assertVisible: ({ caller }, userId) => getMember(prisma, caller.workspaceId, userId),
    },
    resetPassword: async ({ body, req, res }) => {
      sessionCookie.requireOwnPage(req);
      const { session, ended } = await resetPassword(deps, body, getClientInfo(req), buildLinkActor(req, 'link'));
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(session.userId);
      return ok(await sessionCookie.answer(res, session));
    },
  };
}
