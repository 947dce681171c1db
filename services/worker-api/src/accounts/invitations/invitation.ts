/** Rules for invitations, and their API representation. */
import { conflict, gone } from '@gantry/errors';
import { toApiFields } from '@gantry/http';
import type { Invitation } from '../../generated/prisma/client';

const INVITATION_TTL_DAYS = 7;

export const computeInvitationExpiry = (): Date => new Date(Date.now() + INVITATION_TTL_DAYS * 86_400_000);

/** Tells whether the inviter may still invite. */
export interface InvitationValidity {
  isValid: boolean;
}

/** @throws AppError 409 accepted, 410 withdrawn */
export function requirePendingInvitation({ acceptedAt, withdrawnAt }: Invitation): void {
  if (acceptedAt) throw conflict('invitation_accepted', 'this invitation has already been accepted; sign in instead');
  if (withdrawnAt) throw gone('invitation_withdrawn', 'this invitation was withdrawn');
}

/** @throws AppError 409 accepted, 410 withdrawn, expired, or if the inviter may no longer invite */
export function requireOpenInvitation(invitation: Invitation & InvitationValidity): void {
  requirePendingInvitation(invitation);
  if (invitation.expiresAt.getTime() <= Date.now()) {
    throw gone('invitation_expired', 'this invitation has expired; ask for a new one');
  }
  if (!invitation.isValid) {
    throw gone('invitation_ended', 'the sender of this invitation can no longer invite people; ask for a new one');
  }
}

const isInvitationOpen = ({ expiresAt, isValid }: Invitation & InvitationValidity): boolean =>
  isValid && expiresAt.getTime() > Date.now();

export const invitationToApi = (invitation: Invitation & InvitationValidity) => ({
  ...toApiFields(invitation, 'id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt'),
  open: isInvitationOpen(invitation),
});
