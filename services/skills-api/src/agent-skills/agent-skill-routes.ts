/** Routes for agents and their tools: the index of public skills with digests, SKILL.md, zips, import of a zip. */
import { AppError } from '@gantry/errors';
import { created, type OperationCall, type Operations, ok, respondWithSelectedPage } from '@gantry/http';
import type { Request } from 'express';
import { getPerson, toReader } from '../access/caller';
import type { Deps } from '../deps';
import { computeEtag, computeSkillEtag, sendIfNotModified } from '../pages/conditional-get';
import { toSkillMd } from '../skills/front-matter';
import { getReadableSkill } from '../skills/get-skill';
import { publishSkill } from '../skills/publish-skill';
import { type SkillWithBody, skillToApi } from '../skills/skill';
import { checkContent, type PublishInput } from '../skills/skill-input';
import { listIndexedSkills } from '../skills/skill-lists';
import { readSkillZip, zipSkill } from './skill-zip';

/** The discovery format whose fields these are. */
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';
const LISTED_FILES_MAX = 20;

type ImportCall = OperationCall<'skills', 'importSkill'>;

export function createAgentSkillOperations({ prisma, skillsUrl, views }: Deps): Operations<'skills'> {
  /** Null when a 304 was sent. */
  async function fetchSkill({ req, res, path }: OperationCall<'skills', 'skillAsZip'>): Promise<SkillWithBody | null> {
    const skill = await getReadableSkill(prisma, path.slug, toReader(req));
    if (sendIfNotModified(req, res, computeSkillEtag(skill), skill.visibility)) return null;
    views.note(skill.id);
    return skill;
  }

  async function respondWithImportedSkill(req: Request, slug: string, warnings: string[]) {
    const skill = await getReadableSkill(prisma, slug, getPerson(req));
    return created({ ...skillToApi(skill, skillsUrl), warnings }, { Location: `/api/v1/skills/${slug}` });
  }

  return {
    agentSkillIndex: async (call) => {
      const { req, res, query } = call;
      const rows = await listIndexedSkills(prisma, query);
      if (sendIfNotModified(req, res, computeEtag([rows.slice(0, query.limit)]), 'public')) return;
      const { body: skills, headers } = respondWithSelectedPage(
        call,
        rows,
        ({ slug, title, description, skillMdDigest }) => ({
          name: slug,
          type: 'skill-md',
          description: description || title,
          url: `${skillsUrl}/.well-known/agent-skills/${slug}/SKILL.md`,
          digest: `sha256:${skillMdDigest}`,
        }),
      );
      return ok({ $schema: SCHEMA, skills }, headers);
    },
    agentSkillMd: async (call) => {
      const skill = await fetchSkill(call);
      if (skill) call.res.type('text/markdown; charset=utf-8').send(toSkillMd(skill, skill.body_md));
    },
    skillAsZip: async (call) => {
      const skill = await fetchSkill(call);
      if (!skill) return;
      const zip = await zipSkill(skill.slug, toSkillMd(skill, skill.body_md), skill.updated_at);
      call.res.attachment(`${skill.slug}.zip`).type('application/zip').send(zip);
    },
    importSkill: {
      create: async (call) => {
        const { input, left } = await parseUpload(call);
        const { slug, warnings } = await publishSkill(prisma, getPerson(call.req), input);
        return respondWithImportedSkill(call.req, slug, [...warnings, ...left]);
      },
      assertVisible: ({ req }, slug) => getReadableSkill(prisma, slug, getPerson(req)),
      answer: async (call, slug) => {
        const { input, left } = await parseUpload(call);
        return respondWithImportedSkill(call.req, slug, [...checkContent(input).warnings, ...left]);
      },
    },
  };
}

/** Reads the skill to publish, and warns about the other files. @throws AppError 400 */
async function parseUpload({ files, body: form }: ImportCall): Promise<{ input: PublishInput; left: string[] }> {
  const [file, ...more] = files;
  if (file?.fieldname !== 'bundle' || more.length) {
    throw new AppError('invalid', 'invalid_upload', 'bundle: send one zip file in the multipart field "bundle"');
  }
  const { body, others } = await readSkillZip(file.buffer);
  const { visibility } = form;
  const left = others.slice(0, LISTED_FILES_MAX).map((name) => `"${name}" was left out: only SKILL.md is published`);
  return { input: { body_md: body, ...(visibility && { visibility }) }, left };
}
