/** Sharing of a private skill by e-mail address: a reader counts when signed in with one of the addresses. */

import { skillChanged } from '@gantry/events';
import { type CallOf, conflict, type FieldProblem, invalid } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Actor } from '../access/caller';
import type { Db } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import { getOwnedSkill } from './get-skill';
import { announce } from './skill-events';

export type ShareInput = CallOf<'skills', 'shareSkill'>['body'];

const SHARES_MAX = 200;
const EMAIL_CHARS_MAX = 254;
/** One @ with something plausible on both sides; whether it exists only a mail would tell. */
const EMAIL = /^[^\0\s@<>"'(),;:\\[\]]{1,64}@[^\0\s@<>"'(),;:\\[\]]+\.[^\0\s@<>"'(),;:\\[\].]{2,}$/;

/** @returns all addresses, in order. @throws AppError 400 naming every bad address, 403, 404, 409 above the limit, 410 */
export function shareSkill(prisma: PrismaClient, owner: Actor, slug: string, input: ShareInput): Promise<string[]> {
  const emails = checkEmails(input.emails, 'emails');
  const remove = checkEmails(input.remove ?? [], 'remove');
  return transaction(prisma, async (tx) => {
    const skill = await getOwnedSkill(tx, slug, owner);
    const gone = await tx.skillShare.deleteMany({ where: { skillId: skill.id, email: { in: remove } } });
    const come = await tx.skillShare.createMany({
      data: emails.filter((email) => !remove.includes(email)).map((email) => ({ skillId: skill.id, email })),
      skipDuplicates: true,
    });
    const list = await listShares(tx, skill.id);
    if (list.length > SHARES_MAX)
      throw conflict('too_many_shares', `a skill is shared with at most ${SHARES_MAX} addresses`);
    if (gone.count || come.count) {
      await announce(tx, skillChanged, skill.id);
      await owner.audit(tx, {
        action: 'skill.shared',
        id: skill.id,
        details: { slug, added: come.count, removed: gone.count, total: list.length },
      });
    }
    return list;
  });
}

export async function listShares(db: Db, skillId: string): Promise<string[]> {
  const rows = await db.skillShare.findMany({ where: { skillId }, orderBy: [{ createdAt: 'asc' }, { email: 'asc' }] });
  return rows.map(({ email }) => email);
}

function checkEmails(given: string[], field: string): string[] {
  const emails = given.map((email) => email.trim().toLowerCase());
  const problems = emails.flatMap((email, index): FieldProblem[] =>
    EMAIL.test(email) && email.length <= EMAIL_CHARS_MAX
      ? []
      : [{ path: `${field}.${index}`, message: `"${email.slice(0, 100)}" is no e-mail address` }],
  );
  if (problems.length) throw invalid(problems, 'bad_email');
  return [...new Set(emails)];
}
