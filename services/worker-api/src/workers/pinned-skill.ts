/** Published skills as texts of an agent: one version of each, copied, whatever becomes of the skill. */
import { AppError, invalid } from '@gantry/errors';
import { type ApiClient, type OperationCall, ResponseTooLargeError } from '@gantry/http';
import type { SurfaceSchemas } from '@gantry/openapi';
import { toPlainText } from '../connections/request-template';
import { SKILL } from './agent-definition';
import { DESCRIPTION_CHARS_MAX } from './skill-header';

const NAME = /^([a-z0-9][a-z0-9-]{0,127})(?:@([0-9a-f]{64}))?$/;
const VERSIONS_MAX = 200;
const READ_MS_MAX = 10_000;

type Skill = SurfaceSchemas<'skills'>['Skill'];

interface SkillReference {
  slug: string;
  sha: string | undefined;
  /** The path of the field that names it. */
  path: string;
}

type Body = Exclude<OperationCall<'worker', 'updateWorker'>['body'], undefined>;

/**
 * The request with the skills that it names put in: their texts as files, and their hashes. They are read with the
 * caller's own rights.
 * @param isNew the worker is called as the skill unless it has a name
 * @throws AppError 400 for a skill, or a version, that the caller cannot read; 503
 */
export async function resolveSkills<Given extends Body>(
  client: ApiClient,
  input: Given,
  isNew: boolean,
): Promise<Given> {
  // No skill is read for a worker of code: it is refused, however many it names.
  const isForAgent = !isNew || input.runner === 'agent' || typeof input.skill === 'string';
  const { skills, files } = await copySkills(client, isForAgent ? (input.skills ?? []) : []);
  const body = files.length ? { ...input, skills, files: [...(input.files ?? []), ...files] } : input;
  if (typeof body.skill !== 'string') return body;
  const [, slug, sha] = NAME.exec(body.skill) ?? [];
  if (slug === undefined) {
    throw createBadWorkerError(
      'skill',
      'must be the slug of a skill, such as release-notes, optionally followed by @ and the SHA-256 of its text',
    );
  }
  const { title, content_hash: found, body_md: content } = await fetchSkill(client, { slug, sha, path: 'skill' });
  return {
    ...(isNew && { name: title.slice(0, 120), runner: 'agent' }),
    ...body,
    skill: `${slug}@${found}`,
    files: [...(body.files ?? []), { path: body.entrypoint ?? SKILL, content }],
  };
}

type SkillInputs = NonNullable<Body['skills']>;

/** Copies those that are named by a slug: `skills/<slug>/SKILL.md`. The others are paths of the worker's files. */
async function copySkills(client: ApiClient, skills: SkillInputs) {
  const files = new Map<string, string>();
  const copied = await Promise.all(
    skills.map(async (one, index): Promise<SkillInputs[number]> => {
      const [, slug, sha] = (typeof one === 'string' && NAME.exec(one)) || [];
      if (slug === undefined) return one;
      const found = await fetchSkill(client, { slug, sha, path: `skills.${index}` });
      const path = `skills/${slug}/${SKILL}`;
      files.set(path, found.body_md);
      const { version, title, description } = found;
      return {
        path,
        version,
        skill: `${slug}@${found.content_hash}`,
        description: toPlainText(description || title).slice(0, DESCRIPTION_CHARS_MAX),
      };
    }),
  );
  return { skills: copied, files: [...files].map(([path, content]) => ({ path, content })) };
}

async function fetchSkill(client: ApiClient, { slug, sha, path: field }: SkillReference): Promise<Skill> {
  const at = `/api/v1/skills/${slug}`;
  const signal = AbortSignal.timeout(READ_MS_MAX);
  const fetchJson = async (path: string): Promise<unknown> => {
    const { status, body } = await client({ surface: 'skills', method: 'GET', path, signal }).catch((err) => {
      if (err instanceof ResponseTooLargeError) throw createBadWorkerError(field, `"${slug}" is too long for an agent`);
      throw err;
    });
    if (status >= 500) throw new AppError('unavailable', 'skills_unavailable', 'skills cannot be read at the moment');
    if (status >= 300) throw createBadWorkerError(field, `there is no skill "${slug}" that you can read`);
    return body;
  };
  const current = (await fetchJson(at)) as Skill;
  if (sha === undefined || current.content_hash === sha) return current;
  const versions = (await fetchJson(
    `${at}/versions?limit=${VERSIONS_MAX}`,
  )) as SurfaceSchemas<'skills'>['SkillVersion'][];
  const pinned = versions.find((one) => one.content_hash === sha);
  if (!pinned) {
    const present = `${slug}@${current.content_hash}`;
    throw createBadWorkerError(field, `"${slug}" has no version with this hash; the current version is ${present}`);
  }
  return { ...current, ...((await fetchJson(`${at}/versions/${pinned.version}`)) as object) };
}

const createBadWorkerError = (path: string, message: string): AppError => invalid([{ path, message }], 'bad_worker');
