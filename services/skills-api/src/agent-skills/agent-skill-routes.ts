/** Routes for agents and their tools: the index of public skills with digests, SKILL.md, zips, import of a zip. */
import { AppError, type CallOf, created, type Operations, ok } from '@gantry/http';
import type { Request } from 'express';
import { personOf, readerOf } from '../access/caller';
import type { Deps } from '../deps';
import { pageOf } from '../page-of';
import { etagOf, sendUnlessKnown, skillEtag } from '../pages/conditional';
import { toSkillMd } from '../skills/front-matter';
import { getReadableSkill } from '../skills/get-skill';
import { publishSkill } from '../skills/publish-skill';
import { type SkillWithBody, skillToApi } from '../skills/skill';
import { checkContent, type PublishInput } from '../skills/skill-input';
import { listIndexed } from '../skills/skill-lists';
import { readSkillZip, zipSkill } from './skill-zip';

/** The discovery format whose fields these are. */
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const OTHERS_NAMED_MAX = 20;

type Import = CallOf<'skills', 'importSkill'>;

export function agentSkillOperations({ prisma, skillsUrl, views }: Deps): Operations<'skills'> {
  /** Null when a 304 was sent. */
  async function fetched({ req, res, path }: CallOf<'skills', 'skillAsZip'>): Promise<SkillWithBody | null> {
    const skill = await getReadableSkill(prisma, path.slug, readerOf(req));
    if (sendUnlessKnown(req, res, skillEtag(skill), skill.visibility)) return null;
    views.note(skill.id);
    return skill;
  }

  async function answerImported(req: Request, slug: string, warnings: string[]) {
    const skill = await getReadableSkill(prisma, slug, personOf(req));
    return created({ ...skillToApi(skill, skillsUrl), warnings }, { Location: `/api/v1/skills/${slug}` });
  }

  return {
    agentSkillIndex: async (call) => {
      const { req, res, query } = call;
      const rows = await listIndexed(prisma, query);
      if (sendUnlessKnown(req, res, etagOf([rows.slice(0, query.limit)]), 'public')) return;
      const { body: skills, headers } = pageOf(call, rows, ({ slug, title, description, skillMdDigest }) => ({
        name: slug,
        type: 'skill-md',
        description: description || title,
        url: `${skillsUrl}/.well-known/agent-skills/${slug}/SKILL.md`,
        digest: `sha256:${skillMdDigest}`,
      }));
      return ok({ $schema: SCHEMA, skills }, headers);
    },
    agentSkillMd: async (call) => {
      const skill = await fetched(call);
      if (skill) call.res.type('text/markdown; charset=utf-8').send(toSkillMd(skill, skill.body_md));
    },
    skillAsZip: async (call) => {
      const skill = await fetched(call);
      if (!skill) return;
      const zip = await zipSkill(skill.slug, toSkillMd(skill, skill.body_md), skill.updated_at);
      call.res.attachment(`${skill.slug}.zip`).type('application/zip').send(zip);
    },
    importSkill: {
      make: async (call) => {
        const { input, left } = await uploadOf(call);
        const { slug, warnings } = await publishSkill(prisma, personOf(call.req), input);
        return answerImported(call.req, slug, [...warnings, ...left]);
      },
      see: ({ req }, slug) => getReadableSkill(prisma, slug, personOf(req)),
      answer: async (call, slug) => {
        const { input, left } = await uploadOf(call);
        return answerImported(call.req, slug, [...checkContent(input).warnings, ...left]);
      },
    },
  };
}

/** Reads the skill to publish, and warns about the other files. @throws AppError 400 */
async function uploadOf({ files, body: form }: Import): Promise<{ input: PublishInput; left: string[] }> {
  const [file, ...more] = files;
  if (file?.fieldname !== 'bundle' || more.length) {
    throw new AppError('invalid', 'invalid_upload', 'bundle: send one zip, as the multipart field "bundle"');
  }
  const { body, others } = await readSkillZip(file.buffer);
  const { visibility } = form;
  const left = others.slice(0, OTHERS_NAMED_MAX).map((name) => `"${name}" was left out: a skill is its SKILL.md`);
  return { input: { body_md: body, ...(visibility && { visibility }) }, left };
}
