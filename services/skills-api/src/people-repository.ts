import type { Person } from './access/caller';
import type { Db } from './database';
import { Prisma } from './generated/prisma/client';

/**
 * Everything that somebody owns refers to this row; the name is what pages show. Looked at before it is written: a lock on it
 * would make everything that one person publishes wait in line.
 */
export async function upsertPerson(tx: Db, { userId, name }: Pick<Person, 'userId' | 'name'>): Promise<void> {
  const known = await tx.person.findUnique({ where: { userId } });
  if (known && known.name === name) return;
  await tx.person.upsert({ where: { userId }, create: { userId, name }, update: { name } });
}

/** Value in SQL: the name of an owner, null where there is none. @param ownerId a column */
export const ownerName = (ownerId: string): Prisma.Sql =>
  Prisma.raw(`(SELECT name FROM people WHERE user_id = ${ownerId})`);
