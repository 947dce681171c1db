/** Fakes contexts of the worker surface. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeAnswer, FakeRequest } from './fake-accounts';
import { applied, shaOf } from './fake-code';

type Context = WorkerSchemas['Context'];
type FileChange = WorkerSchemas['FileChange'];
type Texts = Record<string, string>;

interface FakeVersion {
  files: Texts;
  sha: string;
  message: string | null;
  author: string | null;
  source: WorkerSchemas['ContextVersion']['change_source'];
}

export interface FakeContext {
  about: Pick<Context, 'name' | 'description' | 'visibility' | 'writeable' | 'used_by' | 'findings'>;
  /** Oldest first. */
  versions: FakeVersion[];
}

export type FakeContexts = FakeContext[];

const AT = Date.parse('2026-01-05T09:00:00.000Z');

export function newContext(name: string, files: Texts, about: Partial<FakeContext['about']> = {}): FakeContext {
  const context: FakeContext = {
    about: {
      ...{ name, description: '', visibility: 'workspace', writeable: false, used_by: [], findings: [] },
      ...about,
    },
    versions: [],
  };
  save(context, files, { source: 'created' });
  return context;
}

export function save(context: FakeContext, files: Texts, version: Partial<FakeVersion> = {}): void {
  const made = { message: null, author: 'ada@example.com', source: 'files' as const, ...version };
  context.versions.push({ ...made, files, sha: shaOf(files) });
}

const bytesOf = (files: Texts): number => Object.values(files).join('').length;
const dateOf = (version: number): string => new Date(AT + version * 3_600_000).toISOString();

function contextOf({ about, versions }: FakeContext, role: string | null): Context {
  const { files, sha } = versions.at(-1) as FakeVersion;
  const may = role !== 'viewer';
  return {
    ...{ ...about, sha, version: versions.length, file_count: Object.keys(files).length },
    ...{ total_size_bytes: bytesOf(files), owner_id: 'usr_ada', created_at: dateOf(1) },
    updated_at: dateOf(versions.length),
    permissions: { edit: may, delete: may, change_visibility: may },
  };
}

/** Returns undefined for requests of another surface. */
export async function answerContext(
  contexts: FakeContexts,
  role: string | null,
  { line, part, query, body }: FakeRequest,
): Promise<FakeAnswer | undefined> {
  if (part[2] !== 'contexts') return undefined;
  const ok = (answer: object, status = 200): FakeAnswer => ({ status, body: answer });
  if (line === 'GET /api/contexts') return ok(contexts.map((context) => contextOf(context, role)));
  if (line === 'POST /api/contexts') {
    const { name = '', ...about } = await body();
    if (contexts.some((context) => context.about.name === name)) return { status: 409, body: { detail: 'taken' } };
    contexts.unshift(newContext(name, {}, about as Partial<FakeContext['about']>));
    return ok(contextOf(contexts[0] as FakeContext, role), 201);
  }
  const context = contexts.find(({ about }) => about.name === part[3]);
  if (!context) return { status: 404, body: { detail: 'no such context' } };
  const { versions, about } = context;
  const latest = versions.at(-1) as FakeVersion;
  const find = (sha: string | null) => versions.findLast((version) => version.sha === sha) ?? latest;
  const now = () => ok(contextOf(context, role));
  switch (part[4]) {
    case undefined:
      if (line.startsWith('PATCH')) Object.assign(about, await body());
      if (line.startsWith('DELETE')) {
        contexts.splice(contexts.indexOf(context), 1);
        return { status: 204 };
      }
      return now();
    case 'files': {
      if (line.startsWith('GET')) {
        const files = Object.entries(find(query.get('version')).files);
        return ok(files.map(([path, content]) => ({ path, content, size: content.length, sha: shaOf(content) })));
      }
      const change = (await body()) as unknown as { files: FileChange[]; message?: string };
      save(context, applied(latest.files, change.files), { message: change.message ?? null });
      return now();
    }
    case 'versions':
      return ok(versions.map((version, index) => itemOf(version, index + 1, versions.length)).reverse());
    case 'rollback': {
      const target = find(part[5] ?? null);
      const { message = `Back to version ${versions.indexOf(target) + 1}` } = await body();
      save(context, target.files, { message, source: 'rollback' });
      return now();
    }
    default:
      return undefined;
  }
}

const itemOf = ({ sha, message, author, source, files }: FakeVersion, version: number, current: number) => ({
  ...{ version, sha, message, author, author_id: null, change_source: source, current: version === current },
  ...{ run_id: source === 'run' ? 'run_w1' : null, file_count: Object.keys(files).length },
  ...{ total_size_bytes: bytesOf(files), created_at: dateOf(version) },
});
