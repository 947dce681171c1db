import {
  type Answer,
  type CallOf,
  type Creating,
  created,
  noContent,
  notFound,
  type Operations,
  ok,
  okPage,
  pageOf as pageOfAll,
} from '@gantry/http';
import type { Request } from 'express';
import { type Actor, type Person, personOf, readerOf, signedInOf } from '../access/caller';
import type { Deps } from '../deps';
import { pageOf } from '../page-of';
import { getOwnedSkill, getReadableSkill } from './get-skill';
import { publishSkill } from './publish-skill';
import { renderSkill } from './render-skill';
import { overrideSkill, saveSkill, unsaveSkill } from './saved-skills';
import { listShares, shareSkill } from './share-skill';
import { skillItemToApi, skillToApi } from './skill';
import { checkContent } from './skill-input';
import { listInWorkspace, listMine } from './skill-lists';
import { changeSkill, deleteSkill, restoreSkill } from './update-skill';
import { findVersion, listVersions, versionToApi } from './version-repository';

type Publish = CallOf<'skills', 'publishSkill'>;

export function skillOperations(deps: Deps): Operations<'skills'> {
  const { prisma, skillsUrl, views, render } = deps;
  /** The skill as the caller now sees it. */
  const seenBy = async (person: Person, slug: string, warnings?: string[]) => ({
    ...skillToApi(await getReadableSkill(prisma, slug, person), skillsUrl),
    ...(warnings && { warnings }),
  });

  const publish = (publisherOf: (req: Request) => Actor): Creating<Publish> => {
    const published = async (req: Request, slug: string, warnings: string[]): Promise<Answer> =>
      created(await seenBy(publisherOf(req), slug, warnings), { Location: `/api/v1/skills/${slug}` });
    return {
      make: async ({ req, body }) => {
        const { slug, warnings } = await publishSkill(prisma, publisherOf(req), body);
        return published(req, slug, warnings);
      },
      see: ({ req }, slug) => getReadableSkill(prisma, slug, publisherOf(req)),
      answer: ({ req, body }, slug) => published(req, slug, checkContent(body).warnings),
    };
  };

  const toItem = (row: Parameters<typeof skillItemToApi>[0]) => skillItemToApi(row, skillsUrl);

  return {
    publishSkill: publish(personOf),
    publishSkillInBrowser: publish(signedInOf),
    getSkill: async ({ req, path }) => {
      const skill = await getReadableSkill(prisma, path.slug, readerOf(req));
      views.note(skill.id);
      return ok(skillToApi(skill, skillsUrl));
    },
    renderSkill: async ({ body }) => ok(await renderSkill(render, body)),
    changeSkill: async ({ req, path, body }) => {
      const person = personOf(req);
      const { warnings } = await changeSkill(prisma, person, path.slug, body);
      return ok(await seenBy(person, path.slug, warnings));
    },
    deleteSkill: async ({ req, path }) => deleteSkill(prisma, personOf(req), path.slug).then(noContent),
    restoreSkill: async ({ req, path }) => {
      const person = personOf(req);
      await restoreSkill(prisma, person, path.slug);
      return ok(await seenBy(person, path.slug));
    },
    listSkillVersions: async (call) => {
      const { id } = await getOwnedSkill(prisma, call.path.slug, personOf(call.req));
      return okPage(call, await listVersions(prisma, id), versionToApi);
    },
    getSkillVersion: async ({ req, path }) => {
      const { id } = await getOwnedSkill(prisma, path.slug, personOf(req));
      const version = await findVersion(prisma, id, path.version);
      if (!version) throw notFound('version', String(path.version), 'of this skill');
      const { description, tags, license, bodyMd } = version;
      return ok({ ...versionToApi(version), description, tags, license, body_md: bodyMd });
    },
    listMySkills: async (call) =>
      pageOf(call, await listMine(prisma, personOf(call.req), call.query, call.query), toItem),
    listWorkspaceSkills: async (call) =>
      pageOf(call, await listInWorkspace(prisma, readerOf(call.req), call.query), toItem),
    listSavedSkills: async (call) => {
      const filter = { ...call.query, relation: 'saved' as const };
      return pageOf(call, await listMine(prisma, personOf(call.req), filter, filter), toItem);
    },
    saveSkill: async ({ req, path: { slug } }) =>
      ok({ slug, saved: true, saves: await saveSkill(prisma, personOf(req), slug) }),
    unsaveSkill: async ({ req, path }) => unsaveSkill(prisma, personOf(req), path.slug).then(noContent),
    shareSkill: async ({ req, path: { slug }, body }) =>
      ok({ slug, ...(await shareSkill(deps, personOf(req), slug, body)) }),
    listShares: async (call) => {
      const { id, slug } = await getOwnedSkill(prisma, call.path.slug, personOf(call.req));
      const { rows, headers } = pageOfAll(call, await listShares(prisma, id));
      return ok({ slug, emails: rows }, headers);
    },
    overrideSkill: async ({ req, path: { slug }, body }) => {
      const person = signedInOf(req);
      await overrideSkill(prisma, person, slug, body);
      const { folder, tags } = toItem(await getReadableSkill(prisma, slug, person));
      return ok({ slug, folder, tags });
    },
  };
}
