import { AppError } from '@gantry/errors';
import type { PrismaClient } from '../../generated/prisma/client';
import { normaliseEmail } from '../users/email';
import { findUserWithPassword } from '../users/user-repository';
import { verifyPassword } from './password';
import type { ClientInfo, OpenSession, Sessions } from './session';

/**
 * Opens a session.
 * @throws AppError 401: identical, after the same work, for an unknown address and a wrong password
 */
export async function signIn(
  { prisma, sessions }: { prisma: PrismaClient; sessions: Sessions },
  input: { email: string; password: string },
  client: ClientInfo,
): Promise<OpenSession> {
  const email = normaliseEmail(input.email);
  const user = email ? await findUserWithPassword(prisma, email) : null;
  const passwordHash = user?.disabledAt === null ? (user.credential?.passwordHash ?? null) : null;
  const isCorrect = await verifyPassword(passwordHash, input.password);
  if (!user || !isCorrect) throw new AppError('unauthorized', 'wrong_sign_in', 'wrong email address or password');
  return sessions.open(prisma, user.id, client);
}
