/**
 * Replaces a forgotten password through a single-use link, sent by email or handed over by an admin.
 *
 * A link never outlives its reason. It ends on use, when another is created, and when the password or the address
 * changes; an admin's link also when a membership of either person changes: see members/membership-changed.ts.
 */

import { createOpaqueToken } from '@gantry/auth';
import { conflict, gone, unknownLinkError } from '@gantry/errors';
import type { Actor, Requester } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { PasswordReset, User } from '../../generated/prisma/client';
import type { AccountDeps } from '../account-deps';
import { getSignedInUserId } from '../identity/caller-user';
import { isAdmin, isAdminOfAll, listWorkspaceIds } from '../members/member-repository';
import { lockManageableMember } from '../members/member-service';
import { revokeUserCredentials } from '../tokens/token-repository';
import { normaliseEmail } from '../users/email';
import { markEmailUnverified, markEmailVerified } from '../users/mark-email-verified';
import { hashPassword, requireStrongPassword } from './password';
import type { ClientInfo, OpenSession } from './session';

const EMAILED_LINK_TTL_HOURS = 1;
const ADMIN_LINK_TTL_HOURS = 24;

/** Null issuer: the link is mailed, and only the reader of the address sees it. */
type ResetIssuer = { issuedBy: string; workspaceId: string } | null;

/** A new link invalidates earlier ones. The token is in the URL fragment (`#`), which no server and no log sees. */
async function insertPasswordReset(
  tx: Db,
  { hasher, dashboardUrl }: AccountDeps,
  { userId, email }: { userId: string; email: string },
  issuer: ResetIssuer,
) {
  const token = createOpaqueToken('rst_');
  const expiresAt = new Date(Date.now() + (issuer ? ADMIN_LINK_TTL_HOURS : EMAILED_LINK_TTL_HOURS) * 3_600_000);
  await invalidatePasswordResets(tx, userId);
  await tx.passwordReset.create({
    data: { hash: hasher.hash(token).hash, userId, email, expiresAt, ...issuer },
  });
  return { url: `${dashboardUrl}/reset-password#${token}`, expiresAt };
}

export async function invalidatePasswordResets(tx: Db, userId: string): Promise<void> {
  await tx.passwordReset.deleteMany({ where: { userId, usedAt: null } });
}

/**
 * Sends a link if the account exists. Reveals neither case, and must not be awaited: it takes longer if the account
 * exists.
 */
export async function sendPasswordResetLink(deps: AccountDeps, actor: Actor, emailText: string): Promise<void> {
  const { prisma, mailer } = deps;
  const email = normaliseEmail(emailText);
  const user = email ? await prisma.user.findUnique({ where: { email } }) : null;
  if (!user || user.disabledAt) return;
  const { url } = await transaction(prisma, async (tx) => {
    await recordChange(tx, actor, 'user.password_reset_requested', {
      workspaceId: user.defaultWorkspaceId,
      id: user.id,
    });
    return insertPasswordReset(tx, deps, { userId: user.id, email: user.email }, null);
  });
  await mailer.send({
    to: user.email,
    subject: 'Set a new password',
    text: `We received a request to set a new password for this email address.\n\nIf you made this request, open this link within an hour:\n\n${url}\n\nIf you did not, you can ignore this message: nothing has changed.\n`,
  });
}

/**
 * Creates a link for a member, shown to the requesting admin. It opens the whole account, so it is issued only to an
 * admin of every workspace of that account; and it opens a session, so it is never issued to a token.
 * @throws AppError 404, 403, 409
 */
export async function createPasswordResetLink(
  deps: AccountDeps,
  { caller, actor, markCreated }: Requester,
  userId: string,
) {
  const { workspaceId } = caller;
  const issuedBy = getSignedInUserId(caller);
  return transaction(deps.prisma, async (tx) => {
    const member = await lockManageableMember(tx, caller, userId);
    if (!(await isAdminOfAll(tx, await listWorkspaceIds(tx, userId), issuedBy))) {
      throw conflict(
        'member_elsewhere',
        'this person is also a member of workspaces that you do not administer; the link would give access to them too',
      );
    }
    const link = await insertPasswordReset(tx, deps, member, { issuedBy, workspaceId });
    const details = { email: member.email };
    await recordChange(tx, actor, 'member.password_reset_link_created', { workspaceId, id: userId }, details);
    await markCreated(tx, userId);
    return link;
  });
}

/**
 * Ends every session of the user and opens a new one.
 *
 * A person who opens a mailed link reads the address. If that is its first verification, the account and its tokens may
 * have been created by another person, so the tokens end too. An admin's link was seen by that admin, so afterwards it
 * is unknown whether the holder of the account reads the address.
 * @throws AppError 404 unknown, 410 spent or expired, 400 poor password
 */
export async function resetPassword(
  deps: Pick<AccountDeps, 'prisma' | 'hasher' | 'sessions'>,
  input: { token: string; new_password: string },
  client: ClientInfo,
  actor: Actor,
): Promise<{ session: OpenSession; ended: string[] }> {
  const { prisma, hasher, sessions } = deps;
  const reset = await prisma.passwordReset.findFirst({
    where: { hash: { in: hasher.candidatesForPrefix('rst_', input.token) } },
    include: { user: true },
  });
  if (!reset || !hasher.matches(input.token, reset.hash)) throw unknownLinkError('password reset');
  const { user } = reset;
  const buildOpenResetFilter = () => ({ hash: reset.hash, usedAt: null, expiresAt: { gt: new Date() } });
  const opens =
    (await isResetStillAllowed(prisma, reset, user)) &&
    (await prisma.passwordReset.count({ where: buildOpenResetFilter() }));
  if (!opens) throw createResetLinkUsedError();
  const passwordHash = await hashNewPassword(input.new_password, user.email);
  return transaction(prisma, async (tx) => {
    const { count } = await tx.passwordReset.updateMany({
      where: buildOpenResetFilter(),
      data: { usedAt: new Date() },
    });
    const holder = await tx.user.findUniqueOrThrow({ where: { id: user.id } });
    if (!count || !(await isResetStillAllowed(tx, reset, holder))) throw createResetLinkUsedError();
    const by = { ...actor, id: user.id, label: user.email };
    await setPassword(tx, user.id, passwordHash);
    const ended = await sessions.closeAllOf(tx, user.id);
    const details = { link: reset.issuedBy ? 'made_by_admin' : 'mailed' };
    await recordChange(tx, by, 'user.password_reset', { workspaceId: user.defaultWorkspaceId, id: user.id }, details);
    if (reset.issuedBy) await markEmailUnverified(tx, by, holder);
    else if (!holder.emailVerifiedAt) {
      ended.push(...(await revokeUserCredentials(tx, user.id)));
      await markEmailVerified(tx, by, user.id, 'mailed_reset');
    }
    return { session: await sessions.open(tx, user.id, client), ended };
  });
}

/** @returns whether the reason for which a link was created still applies */
async function isResetStillAllowed(
  db: Db,
  { email, issuedBy, workspaceId }: PasswordReset,
  user: User,
): Promise<boolean> {
  if (user.disabledAt || user.email !== email) return false;
  if (issuedBy === null) return true;
  if (workspaceId === null || !(await isAdmin(db, workspaceId, issuedBy))) return false;
  const workspaceIds = await listWorkspaceIds(db, user.id);
  return workspaceIds.includes(workspaceId) && (await isAdminOfAll(db, workspaceIds, issuedBy));
}

/** @throws AppError 400 that names the field */
export async function hashNewPassword(password: string, email: string, field = 'new_password'): Promise<string> {
  requireStrongPassword(password, email, field);
  return hashPassword(password);
}

/** Invalidates reset links. */
export async function setPassword(tx: Db, userId: string, passwordHash: string): Promise<void> {
  const changed = { passwordHash, changedAt: new Date() };
  await tx.passwordCredential.upsert({ where: { userId }, create: { userId, ...changed }, update: changed });
  await invalidatePasswordResets(tx, userId);
}

const createResetLinkUsedError = () =>
  gone('link_spent', 'this link has already been used or has expired; request a new one');

export const sweepPasswordResets = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM password_resets WHERE expires_at < now() - interval '7 days'");
