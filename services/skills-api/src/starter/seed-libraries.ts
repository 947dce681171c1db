/**
 * The libraries that come with an installation: Markdown in `services/skills-api/starter/<library>/<slug>.md`, named
 * and ordered by its `library.yaml`.
 *
 * Every replica does this at its start, one at a time: what is there and the same stays untouched, what is there and
 * older gets a new version, so that a new release brings its texts along. A slug that a person took before is left to
 * them.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newId, skillChanged, skillPublished } from '@gantry/events';
import { transaction } from '@gantry/postgres';
import type { Logger } from 'pino';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Person } from '../access/caller';
import type { Db } from '../database';
import type { PrismaClient } from '../generated/prisma/client';
import {
  getLibraryBySlug,
  insertLibrary,
  insertLibrarySkills,
  updateLibrary,
  updateSkillOrder,
} from '../libraries/library-repository';
import { upsertPerson } from '../people/people-repository';
import { enqueueSkillEvent } from '../skills/skill-events';
import { checkContent } from '../skills/skill-input';
import { findSkillBySlug, insertSkill, updateSkill } from '../skills/skill-repository';
import { insertVersion } from '../skills/version-repository';

export const STARTER_DIR = path.resolve(__dirname, '../../starter');

/** A person without a sign-in: what it owns changes only with a release. */
const GANTRY: Person = { userId: 'gantry', workspaceId: 'gantry', email: null, member: null, name: 'Gantry' };

const LOCK = 20_480_005;

const librarySchema = z.object({ title: z.string(), description: z.string(), skills: z.array(z.string()) });

export async function seedLibraries(prisma: PrismaClient, log: Logger, dir = STARTER_DIR): Promise<void> {
  const slugs = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  await transaction(
    prisma,
    async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(${LOCK})`;
      await upsertPerson(tx, GANTRY);
      for (const { name } of slugs) await seedLibrary(tx, log, path.join(dir, name), name);
    },
    { timeout: 30_000, maxWait: 10_000 },
  );
}

async function seedLibrary(tx: Db, log: Logger, dir: string, slug: string): Promise<void> {
  const { title, description, skills } = librarySchema.parse(
    parse(readFileSync(path.join(dir, 'library.yaml'), 'utf8')),
  );
  await insertLibrary(tx, GANTRY, { id: newId('lib_'), slug, title, description, visibility: 'public', starter: true });
  const library = await getLibraryBySlug(tx, slug);
  if (library.ownerId !== GANTRY.userId)
    return log.warn({ library: slug }, 'starter library skipped: its slug is taken');
  if (library.title !== title || library.description !== description) {
    await updateLibrary(tx, library.id, { title, description });
  }
  const ids: string[] = [];
  for (const skill of skills) {
    const id = await seedSkill(tx, skill, readFileSync(path.join(dir, `${skill}.md`), 'utf8'));
    if (id) ids.push(id);
    else log.warn({ skill }, 'starter skill skipped: its slug is taken');
  }
  await insertLibrarySkills(tx, library.id, ids, GANTRY.userId);
  await updateSkillOrder(tx, library.id, ids);
}

/** @returns null for a slug of another owner */
async function seedSkill(tx: Db, slug: string, body: string): Promise<string | null> {
  const { content } = checkContent({ body_md: body });
  const before = await findSkillBySlug(tx, slug);
  if (!before) {
    const id = newId('skl_');
    await insertSkill(tx, GANTRY, { id, slug, visibility: 'public', folder: null, content });
    await insertVersion(tx, id, 1, { content, authorId: GANTRY.userId, message: null });
    await enqueueSkillEvent(tx, skillPublished, id);
    return id;
  }
  if (before.ownerId !== GANTRY.userId) return null;
  if (before.bodyMd !== body) {
    const { id, visibility, folder } = before;
    const version = before.version + 1;
    await updateSkill(tx, before, { version, visibility, folder, content });
    await insertVersion(tx, id, version, { content, authorId: GANTRY.userId, message: 'updated by a new release' });
    await enqueueSkillEvent(tx, skillChanged, id);
  }
  return before.id;
}
