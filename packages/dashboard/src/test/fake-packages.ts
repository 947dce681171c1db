/** Fakes artifacts, their tests and their deployments. */
import type { AutomationSchemas } from '@gantry/sdk';
import type { FakeRequest, FakeResponse } from './fake-accounts';

type TestRun = AutomationSchemas['TestRun'];

interface FakeArtifact {
  manifest: { name: string; description?: string; inputs?: AutomationSchemas['InputItem'][] };
  entrypoint: string;
  zip: Buffer;
}

export interface FakePackages {
  artifacts: FakeArtifact[];
  tests: (TestRun & { body: object })[];
}

export const createPackageState = (): FakePackages => ({ artifacts: [], tests: [] });

interface FakeApi {
  origin: string;
  uploads: Buffer[];
  packages: FakePackages;
  pages: Map<string, AutomationSchemas['Page']>;
  versions: AutomationSchemas['Version'][];
}

/** Returns undefined for other requests. */
export async function handlePackageRequest(
  api: FakeApi,
  { line, part, body, signedIn }: FakeRequest,
): Promise<FakeResponse | undefined> {
  if (!signedIn) return undefined;
  const { artifacts, tests } = api.packages;
  if (line === 'POST /api/artifacts') {
    const { manifest, entrypoint, storageKey } = (await body()) as unknown as FakeArtifact & { storageKey: string };
    const zip = api.uploads[Number(storageKey.split('/').at(-1))];
    if (!zip) return { status: 400, body: { error: 'nothing has been uploaded there yet', code: 'invalid' } };
    artifacts.push({ manifest, entrypoint, zip });
    return { status: 201, body: { artifactId: `art_${artifacts.length}`, warnings: [] } };
  }
  if (part[2] === 'artifacts' && part[4] === 'code') {
    return { status: 200, body: { downloadUrl: `${api.origin}/zips/${part[3]}`, fileList: [] } };
  }
  if (line === 'POST /api/test') {
    const requestBody = (await body()) as unknown as object;
    const test = { testRunId: `tr_${tests.length}`, status: 'pending' as const, body: requestBody };
    tests.push(test);
    return { status: 200, body: test };
  }
  if (part[2] === 'test-runs') return { status: 200, body: tests.find(({ testRunId }) => testRunId === part[3]) };
  const isUpdate = part[2] === 'automations' && part[4] === 'update';
  if (line !== 'POST /api/deploy' && !isUpdate) return undefined;
  const requestBody = (await body()) as unknown as {
    artifactId: string;
    visibility?: 'private' | 'public';
    message?: string;
  };
  const { manifest } = artifacts[Number(requestBody.artifactId.slice(4)) - 1] as FakeArtifact;
  const id = isUpdate ? (part[3] ?? '') : 'aut_new';
  const before = api.pages.get(id);
  const currentVersion = (before?.currentVersion ?? 0) + 1;
  const page: AutomationSchemas['Page'] = {
    id,
    name: before?.name ?? manifest.name,
    description: manifest.description ?? '',
    status: 'active',
    visibility: before?.visibility ?? requestBody.visibility ?? 'private',
    currentVersion,
    url: `${api.origin}/a/${id}`,
    inputs: manifest.inputs ?? [],
    outputs: [],
    inputSchema: {},
    access: 'member',
    canRun: true,
    missingSecrets: [],
  };
  api.pages.set(id, page);
  for (const version of api.versions) version.current = false;
  api.versions.unshift({
    version: currentVersion,
    current: true,
    artifactId: requestBody.artifactId,
    message: requestBody.message ?? null,
    entrypoint: 'main.py',
    fileCount: 1,
    totalSize: 100,
    createdBy: 'usr_ada',
    createdAt: Date.now(),
  });
  const { name, url, status } = page;
  return {
    status: isUpdate ? 200 : 201,
    body: { id, automationId: id, name, url, currentVersion, status, warnings: [] },
  };
}
