import { creating, type Handler, notFound, type Operations } from '@gantry/http';
import type { Request, Response } from 'express';
import { type Actor, type Person, personOf, readerOf, signedInOf } from '../access/caller';
import type { PrismaClient } from '../generated/prisma/client';
import { linkNext, pageOf, pathParam } from '../page-of';
import { getOwnedSkill, getReadableSkill } from './get-skill';
import { publishSkill } from './publish-skill';
import { overrideSkill, saveSkill, unsaveSkill } from './saved-skills';
import { listShares, shareSkill } from './share-skill';
import { skillItemToApi, skillToApi } from './skill';
import { checkContent } from './skill-input';
import { listMine } from './skill-lists';
import { changeSkill, deleteSkill, restoreSkill } from './update-skill';
import { findVersion, listVersions, versionToApi } from './version-repository';
import type { ViewCounts } from './view-counts';

export interface SkillDeps {
  prisma: PrismaClient;
  skillsUrl: string;
  views: ViewCounts;
}

export function skillOperations({ prisma, skillsUrl, views }: SkillDeps): Operations {
  /** The skill as the caller now sees it. */
  async function answer(res: Response, person: Person, slug: string, extras: { warnings?: string[] } = {}) {
    res.json({ ...skillToApi(await getReadableSkill(prisma, slug, person), skillsUrl), ...extras });
  }

  const publish = (publisherOf: (req: Request) => Actor) => {
    const answerPublished = async (req: Request, res: Response, slug: string, warnings: string[]) => {
      res.status(201).location(`/api/v1/skills/${slug}`);
      await answer(res, publisherOf(req), slug, { warnings });
    };
    return creating(
      async (req, res) => {
        const { slug, warnings } = await publishSkill(prisma, publisherOf(req), req.body);
        await answerPublished(req, res, slug, warnings);
      },
      {
        see: (req, slug) => getReadableSkill(prisma, slug, publisherOf(req)),
        answer: (req, res, slug) => answerPublished(req, res, slug, checkContent(req.body).warnings),
      },
    );
  };

  const list: (relation?: 'saved') => Handler = (relation) => async (req, res) => {
    const page = pageOf(req);
    const rows = await listMine(prisma, personOf(req), { ...req.query, ...(relation && { relation }) }, page);
    res.json(linkNext(req, res, rows, page).map((row) => skillItemToApi(row, skillsUrl)));
  };

  return {
    publishSkill: publish(personOf),
    publishSkillInBrowser: publish(signedInOf),
    getSkill: async (req, res) => {
      const skill = await getReadableSkill(prisma, pathParam(req, 'slug'), readerOf(req));
      views.note(skill.id);
      res.json(skillToApi(skill, skillsUrl));
    },
    changeSkill: async (req, res) => {
      const person = personOf(req);
      const slug = pathParam(req, 'slug');
      const { warnings } = await changeSkill(prisma, person, slug, req.body);
      await answer(res, person, slug, { warnings });
    },
    deleteSkill: async (req, res) => {
      await deleteSkill(prisma, personOf(req), pathParam(req, 'slug'));
      res.status(204).end();
    },
    restoreSkill: async (req, res) => {
      const person = personOf(req);
      const slug = pathParam(req, 'slug');
      await restoreSkill(prisma, person, slug);
      await answer(res, person, slug);
    },
    listSkillVersions: async (req, res) => {
      const { id } = await getOwnedSkill(prisma, pathParam(req, 'slug'), personOf(req));
      res.json((await listVersions(prisma, id)).map(versionToApi));
    },
    getSkillVersion: async (req, res) => {
      const { id } = await getOwnedSkill(prisma, pathParam(req, 'slug'), personOf(req));
      const version = await findVersion(prisma, id, Number(req.params.version));
      if (!version) throw notFound('version', String(req.params.version));
      const { description, tags, license, bodyMd } = version;
      res.json({ ...versionToApi(version), description, tags, license, body_md: bodyMd });
    },
    listMySkills: list(),
    listSavedSkills: list('saved'),
    saveSkill: async (req, res) => {
      const slug = pathParam(req, 'slug');
      res.json({ slug, saved: true, saves: await saveSkill(prisma, personOf(req), slug) });
    },
    unsaveSkill: async (req, res) => {
      await unsaveSkill(prisma, personOf(req), pathParam(req, 'slug'));
      res.status(204).end();
    },
    shareSkill: async (req, res) => {
      const slug = pathParam(req, 'slug');
      const emails = await shareSkill(prisma, personOf(req), slug, req.body);
      res.json({ slug, emails });
    },
    listShares: async (req, res) => {
      const { id, slug } = await getOwnedSkill(prisma, pathParam(req, 'slug'), personOf(req));
      res.json({ slug, emails: await listShares(prisma, id) });
    },
    overrideSkill: async (req, res) => {
      const person = signedInOf(req);
      const slug = pathParam(req, 'slug');
      await overrideSkill(prisma, person, slug, req.body);
      const { folder, tags } = skillItemToApi(await getReadableSkill(prisma, slug, person), skillsUrl);
      res.json({ slug, folder, tags });
    },
  };
}
