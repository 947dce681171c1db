/** Replacing a forgotten password: a link that works once, by e-mail or handed over by an admin. */
import { newOpaqueToken, parseOpaqueToken, type TokenHasher } from '@gantry/auth';
import { AppError, conflict, invalid, notFound, type Principal, roleAtLeast } from '@gantry/http';
import type { Actor } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import { type Db, executeIn } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import type { Mailer } from '../mail/mailer';
import { requireMayTouch } from '../members/member';
import { getMember, listWorkspaceIdsOf } from '../members/member-repository';
import { normaliseEmail } from './email';
import { hashPassword, passwordProblem } from './password';
import type { Client, OpenSession, Sessions } from './session';

export interface ResetDeps {
  prisma: PrismaClient;
  hasher: TokenHasher;
  mailer: Mailer;
  dashboardUrl: string;
}

const BY_EMAIL_HOURS = 1;
const BY_ADMIN_HOURS = 24;

/** A new link ends those of before. The token stands behind `#`, where no server and no log sees it. */
async function insertReset(tx: Db, { hasher, dashboardUrl }: ResetDeps, userId: string, hours: number) {
  const token = newOpaqueToken('rst_');
  const expiresAt = new Date(Date.now() + hours * 3_600_000);
  await tx.passwordReset.deleteMany({ where: { userId, usedAt: null } });
  await tx.passwordReset.create({ data: { hash: new Uint8Array(hasher.hash(token).hash), userId, expiresAt } });
  return { url: `${dashboardUrl}/reset-password#${token}`, expiresAt };
}

/** Sends a link if there is such an account. Says nothing either way, and must not be waited for: it takes longer if there is. */
export async function sendResetLink(deps: ResetDeps, actor: Actor, emailText: string): Promise<void> {
  const { prisma, mailer } = deps;
  const email = normaliseEmail(emailText);
  const user = email ? await prisma.user.findUnique({ where: { email } }) : null;
  if (!user || user.disabledAt) return;
  const { url } = await prisma.$transaction(async (tx) => {
    await recordChange(executeIn(tx), actor, {
      workspaceId: user.defaultWorkspaceId,
      action: 'user.password_reset_requested',
      resource: { type: 'user', id: user.id },
    });
    return insertReset(tx, deps, user.id, BY_EMAIL_HOURS);
  });
  await mailer.send({
    to: user.email,
    subject: 'Set a new password',
    text: `Somebody asked for a new password for this e-mail address.\n\nIf it was you, open this link within an hour:\n\n${url}\n\nIf not, nothing has changed and you can ignore this message.\n`,
  });
}

/**
 * A link for a member, shown to the admin who asks. It opens the whole account, so nobody may have one who could not enter
 * every workspace of that account as an admin anyway.
 * @throws AppError 404, 403, 409
 */
export async function createResetLink(deps: ResetDeps, caller: Principal, actor: Actor, userId: string) {
  const { workspaceId, memberships } = caller;
  return deps.prisma.$transaction(async (tx) => {
    const member = await getMember(tx, workspaceId, userId);
    requireMayTouch(caller, member.role);
    const elsewhere = (await listWorkspaceIdsOf(tx, userId)).filter((id) => {
      const role = memberships[id];
      return !role || !roleAtLeast(role, 'admin');
    });
    if (elsewhere.length) {
      throw conflict(
        'member_elsewhere',
        'this person is also a member of workspaces that you do not administer; the link would open those too',
      );
    }
    const link = await insertReset(tx, deps, userId, BY_ADMIN_HOURS);
    await recordChange(executeIn(tx), actor, {
      workspaceId,
      action: 'member.password_reset_link_created',
      resource: { type: 'member', id: userId },
      details: { email: member.email },
    });
    return link;
  });
}

/** Ends every session of the user and opens a new one. @throws AppError 404 unknown, 410 spent or expired, 400 poor password */
export async function resetPassword(
  deps: Pick<ResetDeps, 'prisma' | 'hasher'> & { sessions: Sessions },
  input: { token: string; new_password: string },
  client: Client,
  actor: Actor,
): Promise<{ session: OpenSession; ended: string[] }> {
  const { prisma, hasher, sessions } = deps;
  const isToken = parseOpaqueToken(input.token)?.prefix === 'rst_';
  const hashes = isToken ? hasher.candidates(input.token).map((hash) => new Uint8Array(hash)) : [];
  const reset = await prisma.passwordReset.findFirst({ where: { hash: { in: hashes } }, include: { user: true } });
  if (!reset) throw notFound('password reset', 'of this link');
  const { user } = reset;
  const isOpen = () => ({ hash: reset.hash, usedAt: null, expiresAt: { gt: new Date() } });
  if (user.disabledAt || !(await prisma.passwordReset.count({ where: isOpen() }))) throw spent();
  const passwordHash = await newPasswordHash(input.new_password, user.email);
  return prisma.$transaction(async (tx) => {
    const { count } = await tx.passwordReset.updateMany({ where: isOpen(), data: { usedAt: new Date() } });
    if (!count) throw spent();
    await setPassword(tx, user.id, passwordHash);
    const ended = await sessions.closeAllOf(tx, user.id);
    await recordChange(
      executeIn(tx),
      { ...actor, id: user.id, label: user.email },
      {
        workspaceId: user.defaultWorkspaceId,
        action: 'user.password_reset',
        resource: { type: 'user', id: user.id },
      },
    );
    return { session: await sessions.open(tx, user.id, client), ended };
  });
}

/** @throws AppError 400 that names the field */
export async function newPasswordHash(password: string, email: string, field = 'new_password'): Promise<string> {
  const problem = passwordProblem(password, email);
  if (problem) throw invalid([{ path: field, message: problem }], 'weak_password');
  return hashPassword(password);
}

export async function setPassword(tx: Db, userId: string, passwordHash: string): Promise<void> {
  const changed = { passwordHash, changedAt: new Date() };
  await tx.passwordCredential.upsert({ where: { userId }, create: { userId, ...changed }, update: changed });
}

const spent = () => new AppError('gone', 'link_spent', 'this link was used or has expired; ask for another');
