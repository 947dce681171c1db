/**
 * The whole service in this process: real app, real PostgreSQL, real NATS, answers checked against the OpenAPI file.
 */

import { randomBytes } from 'node:crypto';
import type { ExternalIssuer } from '@gantry/auth';
import { type Bus, newId, type Role } from '@gantry/events';
import type { RateLimits } from '@gantry/limits';
import { type PoolSettings, transaction } from '@gantry/postgres';
import { DEFAULT_RETENTION } from '@gantry/run-engine';
import {
  type CapturedLogs,
  captureLogs,
  createDatabase,
  createFakeExecutors,
  createTemporaryDir,
  type FakeExecutors,
  reserveFreePort,
  serveApp,
  setupResource,
  slowPoolOptions,
  startTestNats,
  type TestNats,
  waitUntil,
} from '@gantry/testing';
import { type KeyRing, parseKeyRing } from '@gantry/vault';
import { hash } from '@node-rs/argon2';
import request from 'supertest';
import { insertMembership } from '../accounts/members/member-repository';
import type { OidcSettings } from '../accounts/oidc/identity-provider';
import { insertUser } from '../accounts/users/user-repository';
import { insertWorkspace } from '../accounts/workspaces/workspace-repository';
import type { McpClient } from '../connections/mcp-client-types';
import type { OauthApps } from '../integrations/oauth-apps';
import type { ModelSettings } from '../models/model-registry';
import { startWorkerApi, type WorkerApi } from '../worker-api';

export const SETUP_TOKEN = 'the-setup-token-of-this-test';
export const PASSWORD = 'correct horse battery staple';
export const BASE_URL = 'http://api.test';
export const DASHBOARD_URL = 'http://dashboard.test';

const MANY = 100_000;
const generous: RateLimits = { requestsPerMinute: MANY, runsPerMinute: MANY, signInsPerMinute: MANY };

export interface Person {
  userId: string;
  email: string;
  /** An access JWT. */
  jwt: string;
  /** Value of the session cookie. */
  cookie: string;
}

export interface TestWorkerApi extends WorkerApi, FakeExecutors {
  /** Address that it listens on. */
  url: string;
  /** Another way to the same database, for looking. */
  databaseUrl: string;
  /** The service's own. */
  bus: Bus;
  nats: TestNats;
  logs: CapturedLogs;
  /** Setup has been done by this person. */
  owner: Person;
  workspaceId: string;
  /** A workspace that the owner is no member of, with an owner of its own. */
  foreign: { workspaceId: string; owner: Person };
  /** A signed-in person with that role in the owner's workspace; they have proven their address unless it is said. */
  addMember(role: Role, options?: { emailVerified?: boolean }): Promise<Person>;
  /** Creates a token with the given credential. */
  createToken(kind: 'personal' | 'workspace', jwt: string, body?: object): Promise<{ id: string; token: string }>;
  /** Another replica on the same database, NATS and storage. */
  replica(): Promise<WorkerApi>;
  stop(): Promise<void>;
}

/** Weak, so that signing in takes no time: real hashes took 7 % of the processor time of suites with many members. */
const passwordHash = hash(PASSWORD, { memoryCost: 8, timeCost: 1 });

const newKeyRing = () => parseKeyRing(`v1:${randomBytes(32).toString('base64')}`);

export interface TestWorkerApiOptions {
  nats?: TestNats;
  rateLimits?: RateLimits;
  reach?: (databaseUrl: string) => string | Promise<string>;
  pool?: PoolSettings;
  smtpUrl?: string;
  outboundAllow?: string[];
  oauthApps?: OauthApps;
  models?: ModelSettings;
  mcpClient?: Pick<McpClient, 'listTools' | 'callTool'>;
  /** Address of the skills surface. Default: none. */
  skillsUrl?: string;
  oidc?: OidcSettings;
  externalIssuer?: ExternalIssuer;
  tokenPeppers?: KeyRing;
  now?: () => Date;
  /** Directory of the object store. Default: a fresh one. */
  objectsDir?: string;
  /** Default false: loops that run by the clock are driven by the test. */
  autoTick?: boolean;
  /** Default true: entrypoints are inspected, as by an executor. */
  inspector?: boolean;
}

export async function startTestWorkerApi(options: TestWorkerApiOptions = {}): Promise<TestWorkerApi> {
  const nats = options.nats ?? (await startTestNats());
  const { url: databaseUrl } = await createDatabase('worker-api');
  const logs = captureLogs();
  const port = await reserveFreePort();
  const url = `http://127.0.0.1:${port}`;
  const opened: (() => Promise<unknown>)[] = [];
  const settings = {
    databaseUrl: (await options.reach?.(databaseUrl)) ?? databaseUrl,
    pool: options.pool ?? (options.reach ? {} : slowPoolOptions),
    nats: nats.as('worker-api'),
    baseUrl: BASE_URL,
    dashboardUrl: DASHBOARD_URL,
    skillsUrl: 'http://skills.test',
    surfaceUrls: { worker: url, automation: DASHBOARD_URL, skills: options.skillsUrl ?? 'http://skills.test' },
    encryptionKeys: newKeyRing(),
    tokenPeppers: options.tokenPeppers ?? newKeyRing(),
    objectStore: {
      location: `file:${options.objectsDir ?? createTemporaryDir('objects')}`,
      signingKey: randomBytes(24).toString('hex'),
      internalUrl: url,
    },
    setupToken: SETUP_TOKEN,
    jwt: { issuer: BASE_URL, audience: 'gantry', externalIssuer: options.externalIssuer },
    oidc: options.oidc,
    smtp: { url: options.smtpUrl, from: 'Gantry <gantry@api.test>' },
    outboundAllow: options.outboundAllow ?? [],
    oauthApps: options.oauthApps ?? {},
    models: options.models ?? { providers: [], aliases: {} },
    ...(options.mcpClient && { mcpClient: options.mcpClient }),
    auditRetentionDays: 365,
    retention: DEFAULT_RETENTION,
    computeUsdPerCpuHour: 0,
    log: logs.log,
    rateLimits: options.rateLimits ?? generous,
    validateResponses: true,
    autoTick: options.autoTick ?? false,
    ...(options.now && { now: options.now }),
  };
  async function startReplica(): Promise<WorkerApi> {
    const replica = await startWorkerApi(settings);
    opened.push(async () => {
      await replica.drain();
      await replica.close();
    });
    return replica;
  }
  const made = await startReplica();
  const { prisma } = made.deps;
  opened.push(await serveApp(made.app, port));
  const { inspector } = options;
  const executors = await createFakeExecutors(nats, 'worker', { inspector, cleanups: opened });

  const account = { email: 'owner@example.com', password: PASSWORD };
  // Before a busy machine has connected the pool, the answer is 503.
  const setup = await waitUntil(
    async () => {
      const answer = await request(url)
        .post('/auth/setup')
        .send({ setup_token: SETUP_TOKEN, ...account, workspace_name: 'Home' });
      return answer.status !== 503 && answer;
    },
    { everyMs: 200 },
  );
  if (setup.status !== 201) throw new Error(`setup: ${setup.status} ${setup.text}`);
  const workspaceId: string = setup.body.workspace.id;

  async function addPerson(role: Role, workspace: string, { emailVerified = true } = {}): Promise<Person> {
    const userId = newId('usr_');
    const email = `${userId.toLowerCase()}@example.com`;
    const credential = { passwordHash: await passwordHash, emailVerifiedAt: emailVerified ? new Date() : null };
    await transaction(prisma, async (tx) => {
      await insertUser(tx, { id: userId, email, name: null, ...credential, defaultWorkspaceId: workspace });
      await insertMembership(tx, workspace, userId, role);
    });
    const signedIn = await request(url).post('/auth/login').send({ email, password: PASSWORD }).expect(200);
    return { userId, email, jwt: signedIn.body.access_token, cookie: getCookie(signedIn) };
  }

  const { id: foreignId } = await insertWorkspace(prisma, { id: newId('ws_'), name: 'Elsewhere' });
  return {
    ...made,
    url,
    databaseUrl,
    bus: made.deps.bus,
    nats,
    logs,
    workspaceId,
    owner: {
      userId: setup.body.user.id,
      email: 'owner@example.com',
      jwt: setup.body.access_token,
      cookie: getCookie(setup),
    },
    foreign: { workspaceId: foreignId, owner: await addPerson('owner', foreignId) },
    addMember: (role, given) => addPerson(role, workspaceId, given),
    createToken: async (kind, jwt, body = {}) => {
      const path = kind === 'personal' ? '/auth/tokens' : '/api/workspace/tokens';
      const created = await request(url)
        .post(path)
        .set('Authorization', `Bearer ${jwt}`)
        .send({ name: 'made by a test', ...body })
        .expect(201);
      return created.body;
    },
    ...executors,
    replica: startReplica,
    stop: async () => {
      for (const close of opened.reverse()) await close();
      if (!options.nats) await nats.stop();
    },
  };
}

/** Before the tests of this file or `describe`, and until after them. */
export const testWorkerApi = (options: TestWorkerApiOptions | (() => TestWorkerApiOptions) = {}): TestWorkerApi =>
  setupResource(
    () => startTestWorkerApi(typeof options === 'function' ? options() : options),
    (api) => api.stop(),
  );

/** The value of the session cookie that an answer sets. */
export function getCookie(answer: request.Response): string {
  const set = ([] as string[]).concat(answer.headers['set-cookie'] ?? []);
  return /svc_cloud_session=([^;]*)/.exec(set.join())?.[1] ?? '';
}

export const withCookie = (cookie: string) => `svc_cloud_session=${cookie}`;
