/** Maps an identity provider's claims to a user. */

import { newId } from '@gantry/events';
import type { Actor } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import { recordChange } from '../../audit/audit-entry';
import type { Db } from '../../database';
import type { PrismaClient, User } from '../../generated/prisma/client';
import type { Sessions } from '../auth/session';
import { joinWorkspace } from '../invitations/accept-invitation';
import { listOpenInvitationsForEmail } from '../invitations/invitation-repository';
import { normaliseVerifiedEmail } from '../users/email';
import { markEmailVerified } from '../users/mark-email-verified';
import { insertUser } from '../users/user-repository';
import type { OidcProfile, OidcSettings } from './identity-provider';

type SignInRefusalCode =
  | 'oidc_email_not_verified'
  | 'oidc_not_invited'
  | 'oidc_disabled'
  | 'oidc_address_unproven'
  | 'oidc_address_of_another'
  | 'oidc_other_address'
  | 'oidc_linked_elsewhere';

/** The reason why sign-in was refused, explained on the sign-in page. */
export class SignInRefusedError extends Error {
  constructor(readonly code: SignInRefusalCode) {
    super(code);
  }
}

/**
 * Finds or creates the user by the provider's subject identifier; the first time by a verified address, which is never
 * used again. An unverified address is worth nothing on either side: any person may claim it at the provider, and an
 * account here may have been created with it by an inviter of its owner. Such an account is not linked: its creator
 * would still know its password. Nor does it lose the address, with which its holder signs in: a person who knows the
 * password verifies the address after signing in (`verifyEmailWithProvider`). Nor is an account linked that belongs to
 * another person of the same provider: a provider may give an address that became free to the next person.
 * @throws Refused
 */
export async function findOrCreateUser(
  prisma: PrismaClient,
  profile: OidcProfile,
  signUp: OidcSettings['signUp'],
  actor: Actor,
): Promise<User> {
  const { issuer, subject } = profile;
  const linked = await prisma.externalIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  });
  if (linked) return assertUserEnabled(linked.user);
  const email = profile.emailVerified && profile.email ? normaliseVerifiedEmail(profile.email) : null;
  if (!email) throw new SignInRefusedError('oidc_email_not_verified');
  return transaction(prisma, async (tx) => {
    const existing = await tx.user.findUnique({ where: { email } });
    if (existing && !assertUserEnabled(existing).emailVerifiedAt) throw new SignInRefusedError('oidc_address_unproven');
    const otherIdentity = existing && (await tx.externalIdentity.findFirst({ where: { issuer, userId: existing.id } }));
    if (otherIdentity) throw new SignInRefusedError('oidc_address_of_another');
    const user = existing ?? (await createUser(tx, email, profile, signUp, actor));
    await linkIdentity(tx, { ...actor, id: user.id, label: email }, profile, user);
    return user;
  });
}

/**
 * Verifies the address of a signed-in person through the provider that they visited: one person, at one browser,
 * controls both the account and the address. Every other session ends, as it may belong to an earlier holder of the
 * account.
 * @returns the sessions that ended. @throws Refused
 */
export async function verifyEmailWithProvider(
  { prisma, sessions }: { prisma: PrismaClient; sessions: Sessions },
  profile: OidcProfile,
  session: { userId: string; sessionId: string },
  actor: Actor,
): Promise<string[]> {
  const { issuer, subject } = profile;
  const email = profile.emailVerified && profile.email ? normaliseVerifiedEmail(profile.email) : null;
  if (!email) throw new SignInRefusedError('oidc_email_not_verified');
  return transaction(prisma, async (tx) => {
    const user = assertUserEnabled(await tx.user.findUniqueOrThrow({ where: { id: session.userId } }));
    if (user.email !== email) throw new SignInRefusedError('oidc_other_address');
    const linked = await tx.externalIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } });
    if (linked && linked.userId !== user.id) throw new SignInRefusedError('oidc_linked_elsewhere');
    const userActor = { ...actor, id: user.id, label: email };
    if (!linked) await linkIdentity(tx, userActor, profile, user);
    if (user.emailVerifiedAt) return [];
    await markEmailVerified(tx, userActor, user.id, 'identity_provider');
    return sessions.closeAllOf(tx, user.id, session.sessionId);
  });
}

async function linkIdentity(
  tx: Db,
  actor: Actor,
  { issuer, subject }: OidcProfile,
  { id, defaultWorkspaceId }: User,
): Promise<void> {
  await tx.externalIdentity.create({ data: { issuer, subject, userId: id } });
  await recordChange(tx, actor, 'user.identity_linked', { workspaceId: defaultWorkspaceId, id }, { issuer });
}

function assertUserEnabled(user: User): User {
  if (user.disabledAt) throw new SignInRefusedError('oidc_disabled');
  return user;
}

/** Accepts open invitations too: the provider has verified the address, as a mailed invitation link would. */
async function createUser(tx: Db, email: string, profile: OidcProfile, signUp: OidcSettings['signUp'], actor: Actor) {
  const invitations = await listOpenInvitationsForEmail(tx, email);
  if (!invitations.length && signUp === 'invited') throw new SignInRefusedError('oidc_not_invited');
  const user = await insertUser(tx, {
    id: newId('usr_'),
    email,
    emailVerifiedAt: new Date(),
    name: profile.name,
    passwordHash: null,
    defaultWorkspaceId: invitations[0]?.workspaceId ?? null,
  });
  for (const invitation of invitations)
    await joinWorkspace(tx, { ...actor, id: user.id, label: email }, invitation, user.id);
  return user;
}

export const sweepOidcSignIns = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM oidc_sign_ins WHERE created_at < now() - interval '1 day'");
