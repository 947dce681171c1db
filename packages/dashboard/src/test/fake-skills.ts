/** Fakes the skills surface: skills, their versions and shares, and libraries. */
import type { SkillsSchemas } from '@gantry/sdk';
import markdownIt from 'markdown-it';
import type { FakeRequest, FakeResponse } from './fake-accounts';

type Skill = SkillsSchemas['Skill'];
type Library = SkillsSchemas['Library'];

interface FakeLibrary extends Omit<Library, 'skills' | 'skill_count'> {
  slugs: string[];
}

export interface FakeSkills {
  list: Skill[];
  versions: Map<string, SkillsSchemas['SkillVersionText'][]>;
  shares: Map<string, string[]>;
  libraries: FakeLibrary[];
  keys: SkillsSchemas['ApiKey'][];
  /** Bodies of the requests that changed data. */
  changes: { line: string; body: Record<string, unknown> }[];
}

export const createSkillState = (): FakeSkills => ({
  list: [],
  versions: new Map(),
  shares: new Map(),
  libraries: [],
  keys: [],
  changes: [],
});

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
const OWNER = { id: 'usr_ada', name: 'Ada' };

export function addSkill(fake: FakeSkills, over: Partial<Skill> & Pick<Skill, 'slug'>): Skill {
  const skill: Skill = {
    title: 'Review a change',
    description: 'How we read changes, and what we ask of them',
    visibility: 'private',
    owner: OWNER,
    owned: true,
    version: 1,
    content_hash: '0'.repeat(64),
    tags: ['code'],
    folder: null,
    license: null,
    saved: false,
    views: 0,
    saves: 0,
    uses: 0,
    deleted_at: null,
    front_matter: null,
    created_at: daysAgo(40),
    updated_at: daysAgo(3),
    url: `https://skills.example.com/s/${over.slug}`,
    body_md: 'Read the tests first.',
    used_by_workers: { workspace: 0, total: 0 },
    ...over,
  };
  fake.list.push(skill);
  fake.versions.set(skill.slug, [toVersion(skill)]);
  return skill;
}

export function addLibrary(fake: FakeSkills, over: Partial<FakeLibrary> & Pick<FakeLibrary, 'slug'>): FakeLibrary {
  const library: FakeLibrary = {
    title: 'Code review',
    description: 'How we read changes',
    visibility: 'private',
    owner: OWNER,
    owned: true,
    starter: false,
    subscriber_count: 0,
    subscribed: false,
    slugs: [],
    created_at: daysAgo(40),
    updated_at: daysAgo(3),
    url: `https://skills.example.com/l/${over.slug}`,
    ...over,
  };
  fake.libraries.push(library);
  return library;
}

const toVersion = (
  { version, title, content_hash, description, tags, license, body_md, updated_at }: Skill,
  message: string | null = null,
): SkillsSchemas['SkillVersionText'] => ({
  version,
  title,
  content_hash,
  description,
  tags,
  license,
  body_md,
  message,
  author_id: OWNER.id,
  created_at: updated_at,
});

const markdown = markdownIt();
const okResponse = (body: object): FakeResponse => ({ status: 200, body });
const NOT_FOUND: FakeResponse = { status: 404, body: { error: 'there is no such skill', code: 'not_found' } };

interface ResourceRequest extends Pick<FakeRequest, 'part'> {
  method: string;
  /** Slug or id; empty for all of them. */
  name: string;
  body: Record<string, unknown>;
}

/** Returns undefined for requests of another surface. */
export async function handleSkillRequest(fake: FakeSkills, req: FakeRequest): Promise<FakeResponse | undefined> {
  const [, , v1, noun, name = ''] = req.part;
  if (v1 !== 'v1') return undefined;
  if (!req.signedIn) return { status: 401, body: { error: 'sign in', code: 'unauthorized' } };
  const isChange = !req.line.startsWith('GET') && name !== 'render';
  const body = req.line.startsWith('GET') ? {} : ((await req.body()) as Record<string, unknown>);
  if (isChange) fake.changes.push({ line: req.line, body });
  const [method = ''] = req.line.split(' ');
  const resource = { method, part: req.part, name, body };
  if (noun === 'skills') return handleSkillResource(fake, resource);
  if (noun === 'libraries') return handleLibraryRequest(fake, resource);
  if (noun === 'api-keys') return handleKeyRequest(fake, resource);
  if (noun === 'me') return handleOwnRequest(fake, req, name, body);
  const existingSkills = fake.list.filter((skill) => skill.deleted_at === null);
  if (noun === 'workspace') return okResponse(existingSkills.filter(({ visibility }) => visibility === 'public'));
  const q = req.query.get('q')?.toLowerCase() ?? '';
  return okResponse(
    existingSkills.flatMap((skill) => {
      const at = skill.title.toLowerCase().indexOf(q);
      if (at === -1) return [];
      const end = at + q.length;
      const title = [
        { text: skill.title.slice(0, at), matched: false },
        { text: skill.title.slice(at, end), matched: true },
        { text: skill.title.slice(end), matched: false },
      ];
      return [{ ...skill, rank: 1, highlights: { title, excerpt: [{ text: skill.description, matched: false }] } }];
    }),
  );
}

function handleKeyRequest(fake: FakeSkills, { method, part, name: id, body }: ResourceRequest): FakeResponse {
  const now = new Date().toISOString();
  const existingKey = fake.keys.find((key) => key.id === id);
  if (method === 'GET') return okResponse(fake.keys);
  if (method === 'DELETE') {
    fake.keys = fake.keys.filter((key) => key !== existingKey);
    return { status: 204 };
  }
  if (existingKey && part[5] === 'rotate') {
    existingKey.rotated_at = now;
    return okResponse({ ...existingKey, key: 'rly_another' });
  }
  const created = { id: `key_${fake.keys.length}`, name: String(body.name), prefix: 'rly_8sWn', created_at: now };
  fake.keys.push({ ...created, rotated_at: null, last_used_at: null });
  return { status: 201, body: { ...created, rotated_at: null, last_used_at: null, key: 'rly_whole' } };
}

function handleSkillResource(fake: FakeSkills, { method, part, name: slug, body }: ResourceRequest): FakeResponse {
  if (slug === 'render') {
    const html = markdown.render(String(body.body_md));
    return okResponse({ html, plain: null, front_matter: null, warnings: [] });
  }
  if (!slug) {
    const created = addSkill(fake, { slug: `skill-${fake.list.length}`, tags: [], description: '', ...body });
    return { status: 201, body: { ...created, warnings: [] } };
  }
  const skill = fake.list.find((one) => one.slug === slug);
  if (!skill) return NOT_FOUND;
  const versions = fake.versions.get(slug) ?? [];
  switch (part[5]) {
    case 'restore':
      skill.deleted_at = null;
      return okResponse(skill);
    case 'save':
      skill.saved = method === 'POST';
      return method === 'POST' ? okResponse({ slug, saved: true, saves: 1 }) : { status: 204 };
    case 'share': {
      const { emails = [], remove = [] } = body as { emails?: string[]; remove?: string[] };
      const all = [...new Set([...(fake.shares.get(slug) ?? []), ...emails])].filter((one) => !remove.includes(one));
      fake.shares.set(slug, all);
      return okResponse({ slug, emails: all, readers: [] });
    }
    case 'versions': {
      const version = versions.find((one) => one.version === Number(part[6]));
      return okResponse(part[6] ? (version ?? {}) : [...versions].reverse());
    }
  }
  if (skill.deleted_at) return { status: 410, body: { error: 'it was deleted', code: 'deleted' } };
  if (method === 'DELETE') {
    skill.deleted_at = new Date().toISOString();
    return { status: 204 };
  }
  if (method === 'PATCH') {
    const { expected_version, message, ...change } = body;
    if (expected_version !== undefined && expected_version !== skill.version)
      return { status: 409, body: { error: `it is now at version ${skill.version}`, code: 'version_moved' } };
    Object.assign(skill, change, { updated_at: new Date().toISOString() });
    if (Object.keys(change).some((field) => field !== 'visibility')) {
      skill.version++;
      fake.versions.set(slug, [...versions, toVersion(skill, message ? String(message) : null)]);
    }
  }
  return okResponse(skill);
}

function withSkills(fake: FakeSkills, { slugs, ...library }: FakeLibrary): Library {
  const skills = slugs.flatMap((slug) => fake.list.find((one) => one.slug === slug) ?? []);
  return { ...library, skills, skill_count: skills.length };
}

function handleLibraryRequest(fake: FakeSkills, { method, part, name: slug, body }: ResourceRequest): FakeResponse {
  if (!slug && method === 'GET')
    return okResponse(fake.libraries.filter(({ starter }) => starter).map(toLibraryItem(fake)));
  if (!slug) return { status: 201, body: withSkills(fake, addLibrary(fake, { slug: 'new-library', ...body })) };
  const library = fake.libraries.find((one) => one.slug === slug);
  if (!library) return NOT_FOUND;
  if (part[5] === 'skills') {
    if (method === 'POST') library.slugs.push(String(body.skill_slug));
    if (method === 'PUT') library.slugs = body.skill_slugs as string[];
    if (method === 'DELETE') library.slugs = library.slugs.filter((one) => one !== part[6]);
  } else if (method === 'PATCH') Object.assign(library, body);
  else if (method === 'DELETE') fake.libraries.splice(fake.libraries.indexOf(library), 1);
  return method === 'DELETE' ? { status: 204 } : okResponse(withSkills(fake, library));
}

const toLibraryItem = (fake: FakeSkills) => (library: FakeLibrary) => {
  const { skills, ...item } = withSkills(fake, library);
  return item;
};

function handleOwnRequest(
  fake: FakeSkills,
  { line, query, part }: FakeRequest,
  what: string,
  body: Record<string, unknown>,
): FakeResponse {
  const isDeleted = query.get('deleted') === 'true';
  switch (what) {
    case 'skills':
      return okResponse(fake.list.filter(({ owned, deleted_at }) => owned && (deleted_at !== null) === isDeleted));
    case 'library':
      return okResponse(fake.list.filter(({ saved }) => saved));
    case 'libraries':
      return okResponse(fake.libraries.filter(({ owned }) => owned).map(toLibraryItem(fake)));
    default: {
      if (line.startsWith('GET'))
        return okResponse(fake.libraries.filter(({ subscribed }) => subscribed).map((one) => withSkills(fake, one)));
      const library = fake.libraries.find(({ slug }) => slug === (part[5] ?? body.library_slug));
      if (!library) return NOT_FOUND;
      library.subscribed = line.startsWith('POST');
      return library.subscribed ? okResponse(withSkills(fake, library)) : { status: 204 };
    }
  }
}
