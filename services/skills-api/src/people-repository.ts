import type { Person } from './access/caller';
import type { Db } from './database';

/** Everything that somebody owns refers to this row; the name is what pages show. */
export async function upsertPerson(tx: Db, { userId, name }: Pick<Person, 'userId' | 'name'>): Promise<void> {
  await tx.person.upsert({ where: { userId }, create: { userId, name }, update: { name } });
}
