/** The inviting side: invite, send again, withdraw. */
import { newOpaqueToken, type TokenHasher } from '@gantry/auth';
import { newId, type Role } from '@gantry/events';
import { conflict, invalid, type Principal } from '@gantry/http';
import type { Actor } from '../audit/actor';
import { recordChange } from '../audit/audit-entry';
import { normaliseEmail } from '../auth/email';
import { executeIn } from '../database';
import type { Invitation, PrismaClient } from '../generated/prisma/client';
import type { Mailer } from '../mail/mailer';
import { isMember } from '../members/member-repository';
import { getWorkspace, lockWorkspace } from '../workspaces/workspace-repository';
import { invitationExpiry, requireOpen } from './invitation';
import { getInvitation, insertInvitation, isInvited } from './invitation-repository';

export interface InviteDeps {
  prisma: PrismaClient;
  hasher: TokenHasher;
  mailer: Mailer;
  dashboardUrl: string;
}

export interface Invited {
  invitation: Invitation;
  emailSent: boolean;
  /** Null once it was sent: the inviter need not see it then. */
  url: string | null;
}

/** @throws AppError 400 for what is no address, 409 for a member and for an address that is invited already */
export async function inviteMember(
  deps: InviteDeps,
  caller: Principal,
  actor: Actor,
  input: { email: string; role?: Role },
): Promise<Invited> {
  const { workspaceId } = caller;
  const email = normaliseEmail(input.email);
  if (!email) throw invalid([{ path: 'email', message: 'must be an e-mail address' }]);
  const token = newOpaqueToken('inv_');
  const invitation = await deps.prisma.$transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    if (await isMember(tx, workspaceId, email)) throw conflict('already_member', `email: ${email} is a member already`);
    if (await isInvited(tx, workspaceId, email)) {
      throw conflict('already_invited', `email: ${email} has an open invitation; send it again or withdraw it`);
    }
    const created = await insertInvitation(tx, workspaceId, {
      id: newId('inv_'),
      email,
      role: input.role ?? 'member',
      hash: deps.hasher.hash(token).hash,
      invitedBy: caller.userId ?? caller.tokenId ?? 'unknown',
      expiresAt: invitationExpiry(),
    });
    await recordChange(executeIn(tx), actor, {
      workspaceId,
      action: 'member.invited',
      resource: { type: 'invitation', id: created.id },
      details: { email, role: created.role },
    });
    return created;
  });
  return deliver(deps, caller, invitation, token);
}

/** A new link, and seven more days; the old link ends. @throws AppError 404, 409 accepted, 410 withdrawn */
export async function resendInvitation(deps: InviteDeps, caller: Principal, actor: Actor, id: string) {
  const { workspaceId } = caller;
  const token = newOpaqueToken('inv_');
  const invitation = await deps.prisma.$transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await getInvitation(tx, workspaceId, id);
    const expiresAt = invitationExpiry();
    requireOpen({ ...before, expiresAt });
    await recordChange(executeIn(tx), actor, {
      workspaceId,
      action: 'invitation.resent',
      resource: { type: 'invitation', id },
      details: { email: before.email },
    });
    const { hash } = deps.hasher.hash(token);
    return tx.invitation.update({ where: { id }, data: { hash: new Uint8Array(hash), expiresAt } });
  });
  return deliver(deps, caller, invitation, token);
}

/** @throws AppError 404, 409 accepted; withdrawing twice is no error */
export async function withdrawInvitation(prisma: PrismaClient, workspaceId: string, actor: Actor, id: string) {
  await prisma.$transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const invitation = await getInvitation(tx, workspaceId, id);
    if (invitation.withdrawnAt) return;
    requireOpen({ ...invitation, expiresAt: invitationExpiry() });
    await tx.invitation.update({ where: { id }, data: { withdrawnAt: new Date() } });
    await recordChange(executeIn(tx), actor, {
      workspaceId,
      action: 'invitation.withdrawn',
      resource: { type: 'invitation', id },
      details: { email: invitation.email },
    });
  });
}

async function deliver(
  { prisma, mailer, dashboardUrl }: InviteDeps,
  caller: Principal,
  invitation: Invitation,
  token: string,
): Promise<Invited> {
  // Behind `#`, where no server and no log sees it.
  const url = `${dashboardUrl}/invite#${token}`;
  const { name } = await getWorkspace(prisma, invitation.workspaceId);
  const inviter = caller.name ?? caller.email ?? 'An admin';
  const emailSent = await mailer.send({
    to: invitation.email,
    subject: `Invitation to ${name}`,
    text: `${inviter} invites you to the workspace "${name}" as ${invitation.role}.\n\nOpen this link within seven days to accept:\n\n${url}\n\nIf you do not expect this, ignore it: nothing happens without you.\n`,
  });
  return { invitation, emailSent, url: emailSent ? null : url };
}
