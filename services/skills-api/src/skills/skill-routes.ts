import { notFound } from '@gantry/errors';
import {
  created,
  type HandlerResponse,
  type IdempotentHandler,
  noContent,
  type OperationCall,
  type Operations,
  ok,
  paginate as pageOfAll,
  respondWithPage,
  respondWithSelectedPage,
} from '@gantry/http';
import type { Request } from 'express';
import { type Actor, getPerson, getSignedInPerson, type Person, toReader } from '../access/caller';
import type { Deps } from '../deps';
import { getOwnedSkill, getReadableSkill } from './get-skill';
import { publishSkill } from './publish-skill';
import { renderSkill } from './render-skill';
import { overrideSkill, saveSkill, unsaveSkill } from './saved-skills';
import { listShares, shareSkill } from './share-skill';
import { skillItemToApi, skillToApi } from './skill';
import { checkContent } from './skill-input';
import { listMySkills, listWorkspaceSkills } from './skill-lists';
import { changeSkill, deleteSkill, restoreSkill } from './update-skill';
import { findVersion, listVersions, versionToApi } from './version-repository';

type PublishOperation = OperationCall<'skills', 'publishSkill'>;

export function createSkillOperations(deps: Deps): Operations<'skills'> {
  const { prisma, skillsUrl, views, render } = deps;
  /** The skill as the caller now sees it. */
  const loadSkill = async (person: Person, slug: string, warnings?: string[]) => ({
    ...skillToApi(await getReadableSkill(prisma, slug, person), skillsUrl),
    ...(warnings && { warnings }),
  });

  const buildPublishHandlers = (getPublisher: (req: Request) => Actor): IdempotentHandler<PublishOperation> => {
    const toPublishResponse = async (req: Request, slug: string, warnings: string[]): Promise<HandlerResponse> =>
      created(await loadSkill(getPublisher(req), slug, warnings), { Location: `/api/v1/skills/${slug}` });
    return {
      create: async ({ req, body }) => {
        const { slug, warnings } = await publishSkill(prisma, getPublisher(req), body);
        return toPublishResponse(req, slug, warnings);
      },
      assertVisible: ({ req }, slug) => getReadableSkill(prisma, slug, getPublisher(req)),
      answer: ({ req, body }, slug) => toPublishResponse(req, slug, checkContent(body).warnings),
    };
  };

  const toItem = (row: Parameters<typeof skillItemToApi>[0]) => skillItemToApi(row, skillsUrl);

  return {
    publishSkill: buildPublishHandlers(getPerson),
    publishSkillInBrowser: buildPublishHandlers(getSignedInPerson),
    getSkill: async ({ req, path }) => {
      const skill = await getReadableSkill(prisma, path.slug, toReader(req));
      views.note(skill.id);
      return ok(skillToApi(skill, skillsUrl));
    },
    renderSkill: async ({ body }) => ok(await renderSkill(render, body)),
    changeSkill: async ({ req, path, body }) => {
      const person = getPerson(req);
      const { warnings } = await changeSkill(prisma, person, path.slug, body);
      return ok(await loadSkill(person, path.slug, warnings));
    },
    deleteSkill: async ({ req, path }) => deleteSkill(prisma, getPerson(req), path.slug).then(noContent),
    restoreSkill: async ({ req, path }) => {
      const person = getPerson(req);
      await restoreSkill(prisma, person, path.slug);
      return ok(await loadSkill(person, path.slug));
    },
    listSkillVersions: async (call) => {
      const { id } = await getOwnedSkill(prisma, call.path.slug, getPerson(call.req));
      return respondWithPage(call, await listVersions(prisma, id), versionToApi);
    },
    getSkillVersion: async ({ req, path }) => {
      const { id } = await getOwnedSkill(prisma, path.slug, getPerson(req));
      const version = await findVersion(prisma, id, path.version);
      if (!version) throw notFound('version', String(path.version), 'of this skill');
      const { description, tags, license, bodyMd } = version;
      return ok({ ...versionToApi(version), description, tags, license, body_md: bodyMd });
    },
    listMySkills: async (call) =>
      respondWithSelectedPage(call, await listMySkills(prisma, getPerson(call.req), call.query, call.query), toItem),
    listWorkspaceSkills: async (call) =>
      respondWithSelectedPage(call, await listWorkspaceSkills(prisma, toReader(call.req), call.query), toItem),
    listSavedSkills: async (call) => {
      const filter = { ...call.query, relation: 'saved' as const };
      return respondWithSelectedPage(call, await listMySkills(prisma, getPerson(call.req), filter, filter), toItem);
    },
    saveSkill: async ({ req, path: { slug } }) =>
      ok({ slug, saved: true, saves: await saveSkill(prisma, getPerson(req), slug) }),
    unsaveSkill: async ({ req, path }) => unsaveSkill(prisma, getPerson(req), path.slug).then(noContent),
    shareSkill: async ({ req, path: { slug }, body }) =>
      ok({ slug, ...(await shareSkill(deps, getPerson(req), slug, body)) }),
    listShares: async (call) => {
      const { id, slug } = await getOwnedSkill(prisma, call.path.slug, getPerson(call.req));
      const { rows, headers } = pageOfAll(call, await listShares(prisma, id));
      return ok({ slug, emails: rows }, headers);
    },
    overrideSkill: async ({ req, path: { slug }, body }) => {
      const person = getSignedInPerson(req);
      await overrideSkill(prisma, person, slug, body);
      const { folder, tags } = toItem(await getReadableSkill(prisma, slug, person));
      return ok({ slug, folder, tags });
    },
  };
}
