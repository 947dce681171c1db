import type { Person } from '../access/caller';
import type { Db } from '../database';
import { Prisma } from '../generated/prisma/client';

/**
 * Upserts the row that everything a person owns refers to; pages show its name. It is read first, because a lock on it
 * would serialize everything that one person publishes.
 */
export async function upsertPerson(tx: Db, { userId, name }: Pick<Person, 'userId' | 'name'>): Promise<void> {
  const known = await tx.person.findUnique({ where: { userId } });
  if (known && known.name === name) return;
  await tx.person.upsert({ where: { userId }, create: { userId, name }, update: { name } });
}

/** SQL value: the name of an owner, or null. @param ownerId a column */
export const buildOwnerNameSql = (ownerId: string): Prisma.Sql =>
  Prisma.raw(`(SELECT name FROM people WHERE user_id = ${ownerId})`);
