/** The rules of an invitation, and how the API shows one. */
import { AppError, conflict } from '@gantry/http';
import type { Invitation } from '../generated/prisma/client';

const OPEN_DAYS = 7;

export const invitationExpiry = (): Date => new Date(Date.now() + OPEN_DAYS * 86_400_000);

/** @throws AppError 409 accepted, 410 withdrawn or expired */
export function requireOpen({ acceptedAt, withdrawnAt, expiresAt }: Invitation): void {
  if (acceptedAt) throw conflict('invitation_accepted', 'this invitation was accepted already; sign in instead');
  if (withdrawnAt) throw new AppError('gone', 'invitation_withdrawn', 'this invitation was withdrawn');
  if (expiresAt.getTime() <= Date.now()) {
    throw new AppError('gone', 'invitation_expired', 'this invitation has expired; ask for another');
  }
}

export function invitationToApi({ id, email, role, invitedBy, createdAt, expiresAt }: Invitation) {
  return {
    id,
    email,
    role,
    invited_by: invitedBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}
