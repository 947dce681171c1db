import type { Db } from '../../database';
import type { User } from '../../generated/prisma/client';

export const findUserWithPassword = (db: Db, email: string) =>
  db.user.findUnique({ where: { email }, include: { credential: true } });

export async function isAnyUser(db: Db): Promise<boolean> {
  return (await db.user.findFirst({ select: { id: true } })) !== null;
}

export interface NewUser {
  id: string;
  email: string;
  /** Null: the address is unverified. */
  emailVerifiedAt: Date | null;
  name: string | null;
  /** Null for a user who signs in with an identity provider only. */
  passwordHash: string | null;
  defaultWorkspaceId: string | null;
}

export function insertUser(tx: Db, { passwordHash, ...user }: NewUser): Promise<User> {
  return tx.user.create({
    data: { ...user, ...(passwordHash !== null && { credential: { create: { passwordHash } } }) },
  });
}
