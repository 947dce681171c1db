/** What agents and their tools fetch: the index of public skills with digests, SKILL.md, zips; and publishing from a zip. */
import { AppError, creating, type Operations } from '@gantry/http';
import type { Request, Response } from 'express';
import { personOf, readerOf } from '../access/caller';
import type { PrismaClient, Visibility } from '../generated/prisma/client';
import { linkNext, pageOf, pathParam } from '../page-of';
import { etagOf, sendUnlessKnown, skillEtag } from '../pages/conditional';
import { toSkillMd } from '../skills/front-matter';
import { getReadableSkill } from '../skills/get-skill';
import { publishSkill } from '../skills/publish-skill';
import { type SkillWithBody, skillToApi } from '../skills/skill';
import { checkContent, type PublishInput } from '../skills/skill-input';
import type { ViewCounts } from '../skills/view-counts';
import { listIndexed } from './agent-skill-repository';
import { readSkillZip, zipSkill } from './skill-zip';

/** The discovery format whose fields these are. */
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const OTHERS_NAMED_MAX = 20;

export interface AgentSkillDeps {
  prisma: PrismaClient;
  skillsUrl: string;
  views: ViewCounts;
}

export function agentSkillOperations({ prisma, skillsUrl, views }: AgentSkillDeps): Operations {
  /** Null when the caller has it already: the answer is sent. */
  async function fetched(req: Request, res: Response): Promise<SkillWithBody | null> {
    const skill = await getReadableSkill(prisma, pathParam(req, 'slug'), readerOf(req));
    if (sendUnlessKnown(req, res, skillEtag(skill), skill.visibility)) return null;
    views.note(skill.id);
    return skill;
  }

  async function answerImported(req: Request, res: Response, slug: string, warnings: string[]): Promise<void> {
    const skill = await getReadableSkill(prisma, slug, personOf(req));
    res.status(201).location(`/api/v1/skills/${slug}`);
    res.json({ ...skillToApi(skill, skillsUrl), warnings });
  }

  return {
    agentSkillIndex: async (req, res) => {
      const page = pageOf(req);
      const rows = linkNext(req, res, await listIndexed(prisma, page), page);
      if (sendUnlessKnown(req, res, etagOf([rows]), 'public')) return;
      res.json({
        $schema: SCHEMA,
        skills: rows.map(({ slug, title, description, skillMdDigest }) => ({
          name: slug,
          type: 'skill-md',
          description: description || title,
          url: `${skillsUrl}/.well-known/agent-skills/${slug}/SKILL.md`,
          digest: `sha256:${skillMdDigest}`,
        })),
      });
    },
    agentSkillMd: async (req, res) => {
      const skill = await fetched(req, res);
      if (skill) res.type('text/markdown; charset=utf-8').send(toSkillMd(skill, skill.body_md));
    },
    skillAsZip: async (req, res) => {
      const skill = await fetched(req, res);
      if (!skill) return;
      const zip = await zipSkill(skill.slug, toSkillMd(skill, skill.body_md), skill.updated_at);
      res.attachment(`${skill.slug}.zip`).type('application/zip').send(zip);
    },
    importSkill: creating(
      async (req, res) => {
        const { input, left } = await uploadOf(req);
        const { slug, warnings } = await publishSkill(prisma, personOf(req), input);
        await answerImported(req, res, slug, [...warnings, ...left]);
      },
      {
        see: (req, slug) => getReadableSkill(prisma, slug, personOf(req)),
        answer: async (req, res, slug) => {
          const { input, left } = await uploadOf(req);
          await answerImported(req, res, slug, [...checkContent(input).warnings, ...left]);
        },
      },
    ),
  };
}

/** The skill to publish, and warnings about the rest. @throws AppError 400 */
async function uploadOf(req: Request): Promise<{ input: PublishInput; left: string[] }> {
  const [file, ...more] = Array.isArray(req.files) ? req.files : [];
  if (file?.fieldname !== 'bundle' || more.length) {
    throw new AppError('invalid', 'invalid_upload', 'bundle: send one zip, as the multipart field "bundle"');
  }
  const { body, others } = await readSkillZip(file.buffer);
  const visibility: Visibility | undefined = req.body.visibility;
  const left = others.slice(0, OTHERS_NAMED_MAX).map((name) => `"${name}" was left out: a skill is its SKILL.md`);
  return { input: { body_md: body, ...(visibility && { visibility }) }, left };
}
