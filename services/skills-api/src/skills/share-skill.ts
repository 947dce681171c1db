/** Sharing of a private skill by email address: with its verified holder, or with the member who has it (ADR 62). */

import { conflict, type FieldProblem, invalid } from '@gantry/errors';
import { skillChanged, type WorkspaceMember } from '@gantry/events';
import { type OperationCall, toApiFields } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Actor } from '../access/caller';
import type { Db } from '../database';
import type { Deps } from '../deps';
import { getOwnedSkill } from './get-skill';
import { enqueueSkillEvent } from './skill-events';

export type ShareInput = OperationCall<'skills', 'shareSkill'>['body'];

const SHARES_MAX = 200;
const EMAIL_CHARS_MAX = 254;
/** One @ with something plausible on both sides; whether the address exists is not checked. */
const EMAIL = /^[^\0\s@<>"'(),;:\\[\]]{1,64}@[^\0\s@<>"'(),;:\\[\]]+\.[^\0\s@<>"'(),;:\\[\].]{2,}$/;

/**
 * Naming an address again binds it to the member who has it now, which confirms that this member is meant.
 * @returns all addresses, in order, and the members who can read the skill by one of them
 * @throws AppError 400 naming every bad address, 403, 404, 409 above the limit, 410, 503 if members cannot be looked up
 */
export async function shareSkill(
  { prisma, findMembers }: Pick<Deps, 'prisma' | 'findMembers'>,
  owner: Actor,
  slug: string,
  input: ShareInput,
): Promise<{ emails: string[]; readers: ReturnType<typeof toShareReader>[] }> {
  const remove = checkEmails(input.remove ?? [], 'remove');
  const removed = new Set(remove);
  const emails = checkEmails(input.emails, 'emails').filter((email) => !removed.has(email));
  await getOwnedSkill(prisma, slug, owner);
  const members = await findMembers(owner.workspaceId, emails);
  return transaction(prisma, async (tx) => {
    const skill = await getOwnedSkill(tx, slug, owner);
    const removedShares = await tx.skillShare.deleteMany({ where: { skillId: skill.id, email: { in: remove } } });
    const addedShares = await tx.skillShare.createMany({
      data: emails.map((email) => ({ skillId: skill.id, email })),
      skipDuplicates: true,
    });
    await linkSharesToMembers(tx, skill.id, emails, members);
    const list = await listShares(tx, skill.id);
    if (list.length > SHARES_MAX)
      throw conflict('too_many_shares', `a skill can be shared with at most ${SHARES_MAX} addresses`);
    if (removedShares.count || addedShares.count) {
      await enqueueSkillEvent(tx, skillChanged, skill.id);
      await owner.audit(tx, {
        action: 'skill.shared',
        id: skill.id,
        details: { slug, added: addedShares.count, removed: removedShares.count, total: list.length },
      });
    }
    return { emails: list, readers: members.map(toShareReader) };
  });
}

async function linkSharesToMembers(
  tx: Db,
  skillId: string,
  emails: string[],
  members: WorkspaceMember[],
): Promise<void> {
  const unbound = { memberId: null, holderSince: null };
  await tx.skillShare.updateMany({ where: { skillId, email: { in: emails } }, data: unbound });
  for (const { email, userId, holderSince } of members) {
    const data = { memberId: userId, holderSince: new Date(holderSince) };
    await tx.skillShare.updateMany({ where: { skillId, email }, data });
  }
}

/** A person who reads the skill now. */
const toShareReader = (member: WorkspaceMember) => toApiFields(member, 'email', 'userId', 'emailVerified');

export async function listShares(db: Db, skillId: string): Promise<string[]> {
  const rows = await db.skillShare.findMany({ where: { skillId }, orderBy: [{ createdAt: 'asc' }, { email: 'asc' }] });
  return rows.map(({ email }) => email);
}

function checkEmails(rawEmails: string[], field: string): string[] {
  const emails = rawEmails.map((email) => email.trim().toLowerCase());
  const problems = emails.flatMap((email, index): FieldProblem[] =>
    EMAIL.test(email) && email.length <= EMAIL_CHARS_MAX
      ? []
      : [{ path: `${field}.${index}`, message: `"${email.slice(0, 100)}" is not an email address` }],
  );
  if (problems.length) throw invalid(problems, 'bad_email');
  return [...new Set(emails)];
}
