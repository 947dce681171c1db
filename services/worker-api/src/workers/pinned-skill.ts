/** A published skill as the text of an agent: one version of it, copied, whatever becomes of the skill. */
import { AppError, type CallOf, invalid } from '@gantry/http';
import type { SurfaceClient } from '../surface-client';
import { SKILL } from './agent-definition';

const NAME = /^([a-z0-9][a-z0-9-]{0,127})(?:@([0-9a-f]{64}))?$/;
const VERSIONS_MAX = 200;
const READ_MS_MAX = 10_000;

interface Skill {
  title: string;
  /** SHA-256 of the text, hex. */
  content_hash: string;
  body_md: string;
}

type Body = Exclude<CallOf<'worker', 'updateWorker'>['body'], undefined>;

/**
 * What a request says with the skill that it names put in: its text as a file, and its hash. The skill is read with the
 * caller's own rights.
 * @param isNew the worker is called as the skill unless it has a name
 * @throws AppError 400 for a skill, or a version, that the caller cannot read; 503
 */
export async function withSkill<Given extends Body>(
  client: SurfaceClient,
  given: Given,
  isNew: boolean,
): Promise<Given> {
  if (typeof given.skill !== 'string') return given;
  const [, slug, sha] = NAME.exec(given.skill) ?? [];
  if (slug === undefined) {
    throw wrong('must be a skill, such as release-notes, or release-notes@ and the SHA-256 of its text');
  }
  const { title, content_hash: found, body_md: content } = await readSkill(client, slug, sha);
  return {
    ...(isNew && { name: title.slice(0, 120), runner: 'agent' }),
    ...given,
    skill: `${slug}@${found}`,
    files: [...(given.files ?? []), { path: given.entrypoint ?? SKILL, content }],
  };
}

async function readSkill(client: SurfaceClient, slug: string, sha: string | undefined): Promise<Skill> {
  const at = `/api/v1/skills/${slug}`;
  const signal = AbortSignal.timeout(READ_MS_MAX);
  const read = async (path: string): Promise<unknown> => {
    const { status, body } = await client({ surface: 'skills', method: 'GET', path, signal });
    if (status >= 500) throw new AppError('unavailable', 'skills_unavailable', 'skills cannot be read at the moment');
    if (status >= 300) throw wrong(`there is no skill "${slug}" that you can read`);
    return body;
  };
  const current = (await read(at)) as Skill;
  if (sha === undefined || current.content_hash === sha) return current;
  const versions = (await read(`${at}/versions?limit=${VERSIONS_MAX}`)) as { version: number; content_hash: string }[];
  const pinned = versions.find((one) => one.content_hash === sha);
  if (!pinned)
    throw wrong(`"${slug}" has no version with this hash; its present one is ${slug}@${current.content_hash}`);
  return { ...current, ...((await read(`${at}/versions/${pinned.version}`)) as object) };
}

const wrong = (message: string): AppError => invalid([{ path: 'skill', message }], 'bad_worker');
