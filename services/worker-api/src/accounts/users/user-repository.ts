import type { Db } from '../../database';
import type { Prisma, User } from '../../generated/prisma/client';

export const findUserWithPassword = (db: Db, email: string) =>
  db.user.findUnique({ where: { email }, include: { credential: true } });

export async function hasAnyUser(db: Db): Promise<boolean> {
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

/** Returns names, or else addresses, by id. */
export async function listUserNames(db: Db, ids: string[]): Promise<Map<string, string>> {
  const users = await db.user.findMany({ where: { id: { in: ids } }, select: { id: true, name: true, email: true } });
  return new Map(users.map(({ id, name, email }) => [id, name ?? email]));
}
