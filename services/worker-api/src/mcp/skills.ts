/** Skills as clients load them by themselves: `skills/list` and `skills/get` of the Skills extension (SEP-2640). */
import { createHash } from 'node:crypto';
import type { SurfaceSchemas } from '@gantry/openapi';
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Skill } from '@modelcontextprotocol/server/ext/skills';
import type { ReadContext } from './resources';
import { getDetail } from './tool-result';

export const SKILL_TEMPLATE = {
  uriTemplate: 'skill://{slug}/SKILL.md',
  name: "A skill's SKILL.md",
  description: 'The SKILL.md that agents install. `skills/list` lists the skills that the caller owns or has saved.',
  mimeType: 'text/markdown',
};

type SkillContext = Pick<ReadContext, 'client' | 'signal'>;
type SkillItem = SurfaceSchemas<'skills'>['SkillItem'];

const PAGE_SIZE = 100;
const DESCRIPTION_CHARS_MAX = 1_024;
const CURSOR = /^[1-9][0-9]{0,6}$/;

/** Those that the caller owns or saved, newest first. @throws ProtocolError */
export async function listSkills(
  { client, signal }: SkillContext,
  cursor: string | undefined,
): Promise<{ skills: Skill[]; nextCursor?: string }> {
  if (cursor !== undefined && !CURSOR.test(cursor))
    throw createInvalidParamsError('cursor: must come from a previous response');
  const offset = Number(cursor ?? 0);
  const path = `/api/v1/me/skills?limit=${PAGE_SIZE}&offset=${offset}`;
  const { status, body } = await client({ surface: 'skills', method: 'GET', path, signal });
  if (status !== 200) throw createInvalidParamsError(getDetail(body));
  const items = body as SkillItem[];
  const isWhole = items.length < PAGE_SIZE;
  // Their texts are read one by one: a list names no digests.
  const skills = items.map((item): Skill => ({ ...toEntry(item), resources: 'dynamic' }));
  return { skills, ...(!isWhole && { nextCursor: String(offset + PAGE_SIZE) }) };
}

/** Any that the caller may read. @throws ProtocolError where there is none */
export async function getSkill(context: SkillContext, uri: string): Promise<Skill> {
  const read = await readSkill(context, uri);
  if (!read) throw createInvalidParamsError(`there is no skill at ${uri.slice(0, 200)}, or you can't read it`);
  const bytes = Buffer.from(read.text);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { ...read.entry, resources: [{ uri: read.entry.uri, digest, size: bytes.length }] };
}

/** @throws ResourceNotFoundError */
export async function readSkillFile(uri: string, context: SkillContext): Promise<ReadResourceResult> {
  const read = await readSkill(context, uri);
  if (!read) throw new ResourceNotFoundError(uri);
  return { contents: [{ uri, mimeType: SKILL_TEMPLATE.mimeType, text: read.text }] };
}

const SKILL_URI = /^skill:\/\/([a-z0-9][a-z0-9-]{1,62}[a-z0-9])\/SKILL\.md$/;

export const isSkillUri = (uri: string): boolean => SKILL_URI.test(uri);

async function readSkill(
  { client, signal }: SkillContext,
  uri: string,
): Promise<{ entry: Entry; text: string } | null> {
  const slug = SKILL_URI.exec(uri)?.[1];
  if (slug === undefined) return null;
  const { status, body } = await client({ surface: 'skills', method: 'GET', path: `/api/v1/skills/${slug}`, signal });
  if (status === 404 || status === 410) return null;
  if (status !== 200) throw createInvalidParamsError(getDetail(body));
  const skill = body as SurfaceSchemas<'skills'>['Skill'];
  const entry = toEntry(skill);
  const { name, description } = entry.frontmatter;
  // Clients hold the file's fields against those of the list, which has these two alone; so it is not the SKILL.md of
  // the skills surface, which keeps the license and more. A text in quotes of JSON is one in YAML.
  const head = `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n`;
  return { entry, text: head + stripFrontMatter(skill.body_md) };
}

type Entry = Pick<Skill, 'uri' | 'frontmatter'>;

const toEntry = ({ slug, title, description }: SkillItem): Entry => ({
  uri: `skill://${slug}/SKILL.md`,
  frontmatter: { name: slug, description: (description || title).slice(0, DESCRIPTION_CHARS_MAX) },
});

/** Its fields are those of the skill; the names are its owner's, and here the folder counts. */
function stripFrontMatter(text: string): string {
  if (!/^---[ \t]*\r?\n/.test(text)) return text;
  const end = text.indexOf('\n---', 3);
  const after = end < 0 ? -1 : text.indexOf('\n', end + 4);
  return after < 0 ? text : text.slice(after + 1).trimStart();
}

const createInvalidParamsError = (detail: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, detail);
