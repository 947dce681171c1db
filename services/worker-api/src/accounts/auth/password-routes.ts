import type { IdentityCache } from '@gantry/auth';
import { AppError, actorBy, actorOf, callerOf, creating, madeBy, type Operations } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Logger } from 'pino';
import { recordChange } from '../../audit/audit-entry';
import { signedInUserOf } from '../identity/person';
import { getMember } from '../members/member-repository';
import { userToApi } from '../users/user';
import { sendVerification, verifyEmail } from './email-verification';
import { verifyPassword } from './password';
import {
  createResetLink,
  newPasswordHash,
  type ResetDeps,
  resetPassword,
  sendResetLink,
  setPassword,
} from './password-reset';
import type { Sessions } from './session';
import { clientOf, type SessionCookie } from './session-cookie';

export interface PasswordDeps extends ResetDeps {
  sessions: Sessions;
  sessionCookie: SessionCookie;
  identities: IdentityCache;
  log: Logger;
}

export function passwordOperations(deps: PasswordDeps): Operations {
  const { prisma, sessions, sessionCookie, mailer, identities, log } = deps;
  return {
    changePassword: async (req, res) => {
      const caller = callerOf(req);
      const userId = signedInUserOf(caller);
      const { current_password, new_password } = req.body;
      const user = await prisma.user.findUniqueOrThrow({ where: { id: userId }, include: { credential: true } });
      if (!(await verifyPassword(user.credential?.passwordHash ?? null, current_password))) {
        throw new AppError('forbidden', 'wrong_password', 'current_password: not your password');
      }
      const passwordHash = await newPasswordHash(new_password, user.email);
      const { session, ended } = await transaction(prisma, async (tx) => {
        await setPassword(tx, userId, passwordHash);
        const closed = await sessions.closeAllOf(tx, userId);
        await recordChange(tx, actorOf(req), {
          workspaceId: caller.workspaceId,
          action: 'user.password_changed',
          resource: { type: 'user', id: userId },
        });
        return { session: await sessions.open(tx, userId, clientOf(req)), ended: closed };
      });
      for (const id of ended) identities.evictToken(id);
      res.json(await sessionCookie.answer(res, session));
    },
    requestPasswordReset: (req, res) => {
      if (mailer.isConfigured) {
        // Not waited for: how long it takes would tell whether there is such an account.
        const sending = sendResetLink(deps, actorBy(req, 'link'), req.body.email);
        sending.catch((err) => log.error({ err, requestId: req.id }, 'password reset not sent'));
      }
      res.status(202).json({ delivery: mailer.isConfigured ? 'email' : 'ask_admin' });
    },
    requestEmailVerification: async (req, res) => {
      res.status(202).json({ email: await sendVerification(deps, callerOf(req), actorOf(req)) });
    },
    verifyEmail: async (req, res) => {
      const { user, ended } = await verifyEmail(deps, callerOf(req), actorOf(req), req.body.token);
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(user.id);
      res.json(userToApi(user));
    },
    createPasswordResetLink: creating(
      async (req, res) => {
        const userId = String(req.params.user_id);
        const link = await createResetLink(deps, callerOf(req), actorOf(req), madeBy(req), userId);
        res.status(201).json({ reset_url: link.url, expires_at: link.expiresAt.toISOString() });
      },
      { see: (req, userId) => getMember(prisma, callerOf(req).workspaceId, userId) },
    ),
    resetPassword: async (req, res) => {
      const { session, ended } = await resetPassword(deps, req.body, clientOf(req), actorBy(req, 'link'));
      for (const id of ended) identities.evictToken(id);
      identities.evictUser(session.userId);
      res.json(await sessionCookie.answer(res, session));
    },
  };
}
