/** Fakes one worker with files and versions, whose drafts can be inspected and tested. */
import { createHash } from 'node:crypto';
import type { WorkerSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';
import { buildWorkerRun, type FakeWorkerRun } from './fake-worker-runs';
import { ALL_PERMISSIONS, buildDefinition, buildWorker, NO_PERMISSIONS } from './fake-workers';

type Worker = WorkerSchemas['Worker'];
type Definition = WorkerSchemas['WorkerDefinition'];
export type FileChange = WorkerSchemas['FileChange'];
type Problem = WorkerSchemas['DraftProblem'];
export type FileTexts = Record<string, string>;

export interface FakeFiles {
  files: FileTexts;
  sha: string;
  message: string | null;
}

interface FakeVersion extends FakeFiles {
  version: number;
  definition: Definition;
  author: string;
  source: 'created' | 'edited' | 'files' | 'rollback';
}

export interface FakeCode {
  versions: FakeVersion[];
  /** Problems found in a draft, by a text that its files contain. */
  problems: Map<string, Problem>;
  /** The installation of the packages of each version. */
  dependencies: WorkerSchemas['DependencyInstallation'];
  /** A newer version of the skill that the worker was created from. */
  skillUpdate: Worker['skill_update'];
  /** Bodies of the test requests. */
  tests: { draft: { files?: FileChange[] }; inputs: object }[];
  /** Saves a version as another member. */
  save: (files: FileTexts, by: Pick<FakeVersion, 'author' | 'message'> & Partial<FakeVersion>) => void;
}

export const CODE_WORKER = 'price-report';

const DEFINITION: Definition = {
  ...buildDefinition(),
  outputs: [{ name: 'total', label: 'Total', type: 'number' }],
  inputs: [{ name: 'shop', label: 'Shop', type: 'text', required: true }],
  secrets: ['SHOP_TOKEN'],
  contexts: ['price-list'],
  python_dependencies: ['requests'],
  dependencies_source: null,
  limits: { timeout_seconds: 60, memory_mb: 512, concurrency: null, priority: 0 },
  approvals: { required: false, forbid_self: false, expires_in_seconds: 604_800 },
};

const MAIN = `"""Adds up what a shop's prices come to."""
import csv
import os

import requests

from gantry import context
from lib.prices import rounded


def run(shop):
    token = os.environ["SHOP_TOKEN"]
    answer = requests.get(f"https://{shop}.example.com/prices", headers={"Authorization": token})
    answer.raise_for_status()
    rows = list(csv.DictReader(answer.text.splitlines()))
    context.log("prices read", rows=len(rows))
    return {"total": rounded(sum(float(row["price"]) for row in rows))}
`;
const PRICES = 'def rounded(price):\n    return round(price, 2)\n';
const README = '# Price report\n\nSums up the prices of one shop.\n';

export const computeSha = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

const CREATED_AT = Date.parse('2026-01-05T09:00:00.000Z');

export function createCodeState(): FakeCode {
  const code: FakeCode = {
    versions: [],
    problems: new Map(),
    dependencies: {
      status: 'installed',
      progress: null,
      platform: 'cp311-linux-x64',
      packages: ['certifi', 'charset-normalizer', 'idna', 'requests', 'urllib3'].map((name, index) => ({
        name,
        version: `2.${index}.1`,
        sha256: String(index).repeat(64),
      })),
      started_at: '2026-01-05T09:00:00.000Z',
      finished_at: '2026-01-05T09:00:02.400Z',
      error: null,
    },
    skillUpdate: null,
    tests: [],
    save(files, by) {
      const versionDefinition = by.definition ?? code.versions[0]?.definition ?? DEFINITION;
      const version = (code.versions[0]?.version ?? 0) + 1;
      const created = { version, files, definition: versionDefinition, source: 'files' as const, ...by };
      code.versions.unshift({ ...created, sha: computeSha([files, versionDefinition]) });
    },
  };
  const files = {
    'main.py': MAIN.replace('    context.log("prices read", rows=len(rows))\n', ''),
    'README.md': README,
  };
  const network = { allow: ['shop.example.com', '*.example.net'] };
  const before = { ...DEFINITION, limits: { ...DEFINITION.limits, timeout_seconds: 30 }, secrets: [], network };
  code.save(files, { author: 'ada@example.com', message: null, source: 'created', definition: before });
  code.save({ ...files, 'lib/prices.py': PRICES }, { author: 'bob@example.com', message: 'Round what is shown' });
  code.save(
    { 'main.py': MAIN, 'README.md': README, 'lib/prices.py': PRICES },
    { author: 'ada@example.com', message: 'Log how many prices there are', source: 'edited', definition: DEFINITION },
  );
  return code;
}

interface VersionFields extends Pick<FakeVersion, 'sha' | 'message'> {
  author: string | null;
  source: string;
  files: object;
}

/** Builds the fields that versions of workers and of contexts share. */
export const buildVersionItem = (
  { sha, message, author, source, files }: VersionFields,
  version: number,
  current: number | undefined,
) => ({
  version,
  sha,
  message,
  author,
  author_id: null,
  change_source: source,
  current: version === current,
  file_count: Object.keys(files).length,
});

const toVersionItem = (fake: FakeVersion, code: FakeCode) => ({
  ...buildVersionItem(fake, fake.version, code.versions[0]?.version),
  total_size: Object.values(fake.files).join('').length,
  created_at: new Date(CREATED_AT + fake.version * 3_600_000).toISOString(),
});

function toWorker(code: FakeCode, role: string | null): Worker {
  const current = code.versions[0] as FakeVersion;
  return buildWorker(CODE_WORKER, {
    ...current.definition,
    name: 'Price report',
    triggers: [],
    version: current.version,
    sha: current.sha,
    created_at: new Date(CREATED_AT).toISOString(),
    updated_at: toVersionItem(current, code).created_at,
    skill_update: code.skillUpdate,
    permissions: role === 'viewer' ? NO_PERMISSIONS : ALL_PERMISSIONS,
  });
}

export const applyChanges = (files: FileTexts, changes: FileChange[]): FileTexts =>
  Object.fromEntries(
    [
      ...Object.entries(files).filter(([path]) => !changes.some((change) => change.path === path)),
      ...changes.flatMap(({ path, content }): [string, string][] => (content === undefined ? [] : [[path, content]])),
    ].sort(),
  );

/** Returns undefined for requests of another surface. */
export async function handleCodeRequest(
  code: FakeCode,
  runs: FakeWorkerRun[],
  role: string | null,
  { line, part, query, body }: FakeRequest,
): Promise<FakeResponse | undefined> {
  const ok = (answer: object, status = 200): FakeResponse => ({ status, body: answer });
  const latest = code.versions[0] as FakeVersion;
  const find = (sha: string | null) => code.versions.find((version) => version.sha === sha) ?? latest;
  if (line === 'POST /api/workers/inspect') {
    const { draft } = (await body()) as unknown as { draft: { base_sha: string; files?: FileChange[] } };
    const text = Object.values(applyChanges(find(draft.base_sha).files, draft.files ?? [])).join('\n');
    const problems = [...code.problems].flatMap(([found, problem]) => (text.includes(found) ? [problem] : []));
    return ok({ problems, parameters: ['shop'], imports: [], secrets: [] });
  }
  if (part[2] !== 'workers' || part[3] !== CODE_WORKER) return undefined;
  const savedResponse = () => ok({ ...toWorker(code, role), warnings: [] });
  switch (part[4]) {
    case undefined:
      return ok(toWorker(code, role));
    case 'sample-input':
      return ok({ inputs: { shop: 'north' } });
    case 'files': {
      if (line.startsWith('GET')) {
        const files = Object.entries(find(query.get('version')).files);
        return ok(files.map(([path, content]) => ({ path, content, size: content.length, sha: computeSha(content) })));
      }
      const change = (await body()) as unknown as { files: FileChange[]; base_sha: string; message?: string };
      if (change.base_sha !== latest.sha) return { status: 409, body: { detail: 'not current', code: 'not_current' } };
      const files = applyChanges(latest.files, change.files);
      code.save(files, { author: 'ada@example.com', message: change.message ?? null });
      return savedResponse();
    }
    case 'versions': {
      if (!part[5]) return ok(code.versions.map((version) => toVersionItem(version, code)));
      const [after, before] = [find(part[5]), find(query.get('compare_to'))];
      const fields = Object.keys(DEFINITION).flatMap((field) => {
        const [old, now] = [before.definition, after.definition].map((one) => one[field as keyof Definition]);
        return JSON.stringify(old) === JSON.stringify(now) ? [] : [{ field, before: old, after: now }];
      });
      return ok({
        ...toVersionItem(after, code),
        definition: after.definition,
        locked_dependencies: [],
        dependencies: code.dependencies,
        files: [],
        compared_to: before.sha,
        changes: { files: [], fields },
      });
    }
    case 'rollback': {
      const target = find(part[5] ?? null);
      const { message = `Rolled back to version ${target.version}` } = await body();
      const { definition: targetDefinition, files } = target;
      code.save(files, { author: 'ada@example.com', message, source: 'rollback', definition: targetDefinition });
      return ok(toWorker(code, role));
    }
    case 'test': {
      code.tests.push((await body()) as unknown as FakeCode['tests'][number]);
      const run = buildWorkerRun({ worker_id: CODE_WORKER, trigger: 'test', worker_version: null });
      runs.push(run);
      return ok({ status: 'running', run_id: run.run.id }, 201);
    }
    default:
      return undefined;
  }
}
