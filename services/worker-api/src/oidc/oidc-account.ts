/** From what an identity provider says of a person to a user of ours. */
import { newId } from '@gantry/events';
import type { Actor } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import { normaliseEmail } from '../auth/email';
import { type Db, executeIn } from '../database';
import type { PrismaClient, User } from '../generated/prisma/client';
import { join } from '../invitations/accept-invitation';
import { insertUser } from '../users/user-repository';
import type { OidcSettings, Person } from './identity-provider';

/** Why nobody is signed in: the sign-in page says it in words. */
export class Refused extends Error {
  constructor(readonly code: 'oidc_email_not_verified' | 'oidc_not_invited' | 'oidc_disabled') {
    super(code);
  }
}

/**
 * Known by the provider's own id for the person; the first time by a verified address, which then is never asked again.
 * An address that is not verified is worth nothing: anybody may claim it.
 * @throws Refused
 */
export async function userOfPerson(
  prisma: PrismaClient,
  person: Person,
  signUp: OidcSettings['signUp'],
  actor: Actor,
): Promise<User> {
  const { issuer, subject } = person;
  const known = await prisma.externalIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    include: { user: true },
  });
  if (known) return enabled(known.user);
  const email = person.emailVerified && person.email ? normaliseEmail(person.email) : null;
  if (!email) throw new Refused('oidc_email_not_verified');
  return prisma.$transaction(async (tx) => {
    const existing = await tx.user.findUnique({ where: { email } });
    const user = existing ? enabled(existing) : await signedUp(tx, email, person, signUp, actor);
    await tx.externalIdentity.create({ data: { issuer, subject, userId: user.id } });
    await recordChange(
      executeIn(tx),
      { ...actor, id: user.id, label: email },
      {
        workspaceId: user.defaultWorkspaceId,
        action: 'user.identity_linked',
        resource: { type: 'user', id: user.id },
        details: { issuer },
      },
    );
    return user;
  });
}

function enabled(user: User): User {
  if (user.disabledAt) throw new Refused('oidc_disabled');
  return user;
}

/** The provider has verified the address, which is what the link of an invitation would prove: open ones are accepted. */
async function signedUp(tx: Db, email: string, person: Person, signUp: OidcSettings['signUp'], actor: Actor) {
  const open = { acceptedAt: null, withdrawnAt: null, expiresAt: { gt: new Date() } };
  const invitations = await tx.invitation.findMany({
    where: { email, ...open, workspace: { deletedAt: null } },
    orderBy: { createdAt: 'asc' },
    distinct: ['workspaceId'],
  });
  if (!invitations.length && signUp === 'invited') throw new Refused('oidc_not_invited');
  const user = await insertUser(tx, {
    id: newId('usr_'),
    email,
    name: person.name,
    passwordHash: null,
    defaultWorkspaceId: invitations[0]?.workspaceId ?? null,
  });
  for (const invitation of invitations) await join(tx, { ...actor, id: user.id, label: email }, invitation, user.id);
  return user;
}
