/** Fakes contexts of the worker surface. */
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';
import {
  applyChanges,
  buildVersionItem,
  computeSha,
  type FakeFiles,
  type FileChange,
  type FileTexts,
} from './fake-code';

type Context = WorkerSchemas['Context'];

interface FakeVersion extends FakeFiles {
  author: string | null;
  source: WorkerSchemas['ContextVersion']['change_source'];
}

export interface FakeContext {
  about: Pick<Context, 'name' | 'description' | 'visibility' | 'writeable' | 'used_by' | 'findings'>;
  /** Oldest first. */
  versions: FakeVersion[];
}

export type FakeContexts = FakeContext[];

const CREATED_AT = Date.parse('2026-01-05T09:00:00.000Z');

export function createContext(name: string, files: FileTexts, about: Partial<FakeContext['about']> = {}): FakeContext {
  const context: FakeContext = {
    about: {
      name,
      description: '',
      visibility: 'workspace',
      writeable: false,
      used_by: [],
      findings: [],
      ...about,
    },
    versions: [],
  };
  saveVersion(context, files, { source: 'created' });
  return context;
}

export function saveVersion(context: FakeContext, files: FileTexts, version: Partial<FakeVersion> = {}): void {
  const newVersion = { message: null, author: 'ada@example.com', source: 'files' as const, ...version };
  context.versions.push({ ...newVersion, files, sha: computeSha(files) });
}

const countBytes = (files: FileTexts): number => Object.values(files).join('').length;
const versionDate = (version: number): string => new Date(CREATED_AT + version * 3_600_000).toISOString();

function toContext({ about, versions }: FakeContext, role: string | null): Context {
  const { files, sha } = versions.at(-1) as FakeVersion;
  const canEdit = role !== 'viewer';
  return {
    ...about,
    sha,
    version: versions.length,
    file_count: Object.keys(files).length,
    total_size_bytes: countBytes(files),
    owner_id: 'usr_ada',
    created_at: versionDate(1),
    updated_at: versionDate(versions.length),
    permissions: { edit: canEdit, delete: canEdit, change_visibility: canEdit },
  };
}

/** Returns undefined for requests of another surface. */
export async function handleContextRequest(
  contexts: FakeContexts,
  role: string | null,
  { line, part, query, body }: FakeRequest,
): Promise<FakeResponse | undefined> {
  if (part[2] !== 'contexts') return undefined;
  const ok = (answer: object, status = 200): FakeResponse => ({ status, body: answer });
  if (line === 'GET /api/contexts') return ok(contexts.map((context) => toContext(context, role)));
  if (line === 'POST /api/contexts') {
    const { name = '', ...about } = await body();
    if (contexts.some((context) => context.about.name === name)) return { status: 409, body: { detail: 'taken' } };
    contexts.unshift(createContext(name, {}, about as Partial<FakeContext['about']>));
    return ok(toContext(contexts[0] as FakeContext, role), 201);
  }
  const context = contexts.find(({ about }) => about.name === part[3]);
  if (!context) return { status: 404, body: { detail: 'no such context' } };
  const { versions, about } = context;
  const latest = versions.at(-1) as FakeVersion;
  const find = (sha: string | null) => versions.findLast((version) => version.sha === sha) ?? latest;
  const contextResponse = () => ok(toContext(context, role));
  switch (part[4]) {
    case undefined:
      if (line.startsWith('PATCH')) Object.assign(about, await body());
      if (line.startsWith('DELETE')) {
        contexts.splice(contexts.indexOf(context), 1);
        return { status: 204 };
      }
      return contextResponse();
    case 'files': {
      if (line.startsWith('GET')) {
        const files = Object.entries(find(query.get('version')).files);
        return ok(files.map(([path, content]) => ({ path, content, size: content.length, sha: computeSha(content) })));
      }
      const change = (await body()) as unknown as { files: FileChange[]; message?: string };
      saveVersion(context, applyChanges(latest.files, change.files), { message: change.message ?? null });
      return contextResponse();
    }
    case 'versions':
      return ok(versions.map((version, index) => toVersionItem(version, index + 1, versions.length)).reverse());
    case 'rollback': {
      const target = find(part[5] ?? null);
      const { message = `Rolled back to version ${versions.indexOf(target) + 1}` } = await body();
      saveVersion(context, target.files, { message, source: 'rollback' });
      return contextResponse();
    }
    default:
      return undefined;
  }
}

const toVersionItem = (fake: FakeVersion, version: number, current: number) => ({
  ...buildVersionItem(fake, version, current),
  run_id: fake.source === 'run' ? 'run_w1' : null,
  total_size_bytes: countBytes(fake.files),
  created_at: versionDate(version),
});
