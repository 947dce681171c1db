import type { Db } from '../../database';
import type { Prisma, User } from '../../generated/prisma/client';

export const findUserWithPassword = (db: Db, email: string) =>
  db.user.findUnique({ where: { email }, include: { credential: true } });

export async function isAnyUser(db: Db): Promise<boolean> {
  return (await db.user.findFirst({ select: { id: true } })) !== null;
}

/** @param passwordHash null for a user who signs in with an identity provider only */
export function insertUser(
  tx: Db,
  { passwordHash, ...user }: Prisma.UserUncheckedCreateInput & { passwordHash: string | null },
): Promise<User> {
  return tx.user.create({
    data: { ...user, ...(passwordHash !== null && { credential: { create: { passwordHash } } }) },
  });
}
