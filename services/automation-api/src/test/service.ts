/** Runs the real service on a real PostgreSQL and NATS, with a fake executor and without a worker-api. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createOpaqueToken } from '@gantry/auth';
import { type Identity, newId, type Restriction, type Role } from '@gantry/events';
import type { RateLimits } from '@gantry/limits';
import { DEFAULT_RETENTION } from '@gantry/run-engine';
import {
  buildTestUser,
  type CapturedLogs,
  captureLogs,
  createDatabase,
  createFakeExecutors,
  createTemporaryDir,
  createZip,
  type FakeExecutors,
  reserveFreePort,
  serveApp,
  setupResource,
  slowPoolOptions,
  startTestNats,
  type TestDatabase,
  type TestNats,
  waitUntil,
} from '@gantry/testing';
import request, { type Test } from 'supertest';
import { type AutomationApi, startAutomationApi } from '../automation-api';

export interface Caller {
  workspaceId: string;
  userId: string | null;
  token: string;
  get(path: string): Test;
  post(path: string, body?: object): Test;
  patch(path: string, body: object): Test;
  delete(path: string): Test;
}

export interface TestService extends FakeExecutors {
  api: AutomationApi;
  url: string;
  database: TestDatabase;
  nats: TestNats;
  logs: CapturedLogs;
  /** Creates a user in a new workspace, or in the given one. */
  createCaller(options?: {
    role?: Role;
    workspaceId?: string;
    userId?: string | null;
    expiresAt?: number;
    restriction?: Restriction;
  }): Caller;
  anonymous: Pick<Caller, 'get' | 'post'>;
  /** Cancels what a test has left in the queue: the executor of the next one would claim it. */
  cancelQueuedRuns(): Promise<void>;
  /** Another replica on the same database, NATS and storage. */
  replica(options?: Partial<StartOptions>): Promise<AutomationApi>;
  stop(): Promise<void>;
}

export interface StartOptions {
  now: () => Date;
  rateLimits: RateLimits;
  inspector: boolean;
}

const generousLimits: RateLimits = { requestsPerMinute: 100_000, runsPerMinute: 100_000, signInsPerMinute: 100_000 };

export async function startService(options: Partial<StartOptions> = {}): Promise<TestService> {
  const [database, nats, port] = await Promise.all([
    createDatabase('automation-api'),
    startTestNats(),
    reserveFreePort(),
  ]);
  const url = `http://127.0.0.1:${port}`;
  const logs = captureLogs();
  const identities = new Map<string, Identity>();
  const objects = createTemporaryDir('objects');
  const signingKey = randomBytes(24).toString('hex');
  const encryptionKey = randomBytes(32);
  const cleanups: (() => Promise<unknown>)[] = [];

  async function startApi(overrides: Partial<StartOptions>): Promise<AutomationApi> {
    const api = await startAutomationApi({
      databaseUrl: database.url,
      pool: slowPoolOptions,
      nats: nats.as('automation-api'),
      baseUrl: 'http://worker.test',
      dashboardUrl: url,
      skillsUrl: 'http://skills.test',
      encryptionKeys: { current: 'v1', keys: new Map([['v1', encryptionKey]]) },
      objectStore: { location: `file:${objects}`, signingKey, internalUrl: url },
      dashboardDir: path.join(objects, 'no-dashboard'),
      retention: DEFAULT_RETENTION,
      jwt: { jwksUrl: 'http://worker.test/jwks.json', issuer: 'http://worker.test', audience: 'gantry' },
      identify: async (credential) => identities.get(credential.secret) ?? null,
      log: logs.log,
      rateLimits: overrides.rateLimits ?? generousLimits,
      validateResponses: true,
      autoTick: false,
      ...(overrides.now && { now: overrides.now }),
    });
    cleanups.push(async () => {
      await api.drain();
      await api.close();
    });
    return api;
  }

  const api = await startApi(options);
  cleanups.push(await serveApp(api.app, port));

  const executors = await createFakeExecutors(nats, 'automation', { inspector: options.inspector, cleanups });

  const send = (test: Test, token?: string) => (token ? test.set('Authorization', `Bearer ${token}`) : test);
  const createRequests = (token?: string) => ({
    get: (route: string) => send(request(url).get(route), token),
    post: (route: string, body?: object) =>
      body === undefined ? send(request(url).post(route), token) : send(request(url).post(route), token).send(body),
  });

  return {
    api,
    url,
    database,
    nats,
    logs,
    createCaller: ({
      role = 'admin',
      workspaceId = newId('ws_'),
      userId = newId('usr_'),
      expiresAt,
      restriction,
    } = {}) => {
      const token = createOpaqueToken('svc_');
      identities.set(token, {
        kind: 'personal_token',
        ...buildTestUser({ tokenId: newId('tok_') }),
        userId,
        defaultWorkspaceId: workspaceId,
        memberships: { [workspaceId]: role },
        expiresAt: expiresAt ?? null,
        ...(restriction && { restriction }),
      });
      return {
        workspaceId,
        userId,
        token,
        ...createRequests(token),
        patch: (route, body) => send(request(url).patch(route), token).send(body),
        delete: (route) => send(request(url).delete(route), token),
      };
    },
    anonymous: createRequests(),
    ...executors,
    cancelQueuedRuns: async () => {
      const { pool, engine } = api.deps;
      const { rows } = await pool.query("SELECT id, workspace_id FROM runs WHERE status = 'queued'");
      for (const { id, workspace_id: workspaceId } of rows) await engine.cancel(workspaceId, id);
    },
    replica: (overrides = {}) => startApi(overrides),
    stop: async () => {
      for (const close of cleanups.splice(0).reverse()) await close();
      await nats.stop();
      await database.drop();
    },
  };
}

/** Starts the service before the tests of this file or `describe`, and stops it after them. */
export const testService = (options: Partial<StartOptions> = {}): TestService =>
  setupResource(
    () => startService(options),
    (service) => service.stop(),
  );

export const helloManifest = {
  name: 'Hello',
  description: 'Greets a person by name',
  inputs: [{ name: 'who', type: 'text', required: true }],
  outputs: [{ name: 'greeting', type: 'text' }],
};
export const helloCode = 'def run(who):\n    return {"greeting": f"Hello, {who}"}\n';

/** Uploads bytes as a client does. @returns the storageKey */
export async function uploadZip(caller: Caller, bytes: Buffer): Promise<string> {
  // On a busy machine the first queries of a service may time out: clients retry.
  const { body } = await waitUntil(async () => {
    const response = await caller.post('/api/artifacts/upload-url');
    return response.status === 200 && response;
  });
  const response = await fetch(body.uploadUrl, {
    method: 'PUT',
    body: new Uint8Array(bytes),
    headers: { 'Content-Type': 'application/zip' },
  });
  if (!response.ok) throw new Error(`upload answered ${response.status}`);
  return body.storageKey;
}

export async function createArtifact(
  caller: Caller,
  options: { files?: Record<string, string>; manifest?: object; entrypoint?: string } = {},
): Promise<string> {
  const { files = { 'main.py': helloCode }, manifest = helloManifest, entrypoint = 'main.py' } = options;
  const storageKey = await uploadZip(caller, await createZip(files));
  const { body } = await caller.post('/api/artifacts', { manifest, entrypoint, storageKey }).expect(201);
  return body.artifactId;
}

/** @returns the body of the deploy response */
export async function deployArtifact(
  caller: Caller,
  options: Parameters<typeof createArtifact>[1] & { deploy?: object } = {},
) {
  const artifactId = await createArtifact(caller, options);
  const { body } = await caller.post('/api/deploy', { artifactId, ...options.deploy }).expect(201);
  return body as { id: string; automationId: string; url: string; currentVersion: number; warnings: string[] };
}
