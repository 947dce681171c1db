/** The real app on a database of its own. Only worker-api, which knows the accounts, is played. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createIdentityCache,
  createLastUseTracker,
  createOpaqueToken,
  createTokenHasher,
  type LastUse,
  parseOpaqueToken,
} from '@gantry/auth';
import {
  type Identity,
  newId,
  type Restriction,
  type Role,
  type WorkspaceClosures,
  watchWorkspaceClosures,
} from '@gantry/events';
import { createHealth, createPostgresCheck } from '@gantry/http';
import {
  captureLogs,
  createDatabase,
  setupBus,
  setupNats,
  setupResource,
  setupTestEventPublisher,
  slowPoolOptions,
} from '@gantry/testing';
import { parseKeyRing } from '@gantry/vault';
import type { Express } from 'express';
import request, { type Test } from 'supertest';
import { createApiKeyTokens } from '../api-keys/api-key';
import { createApp } from '../app';
import { type Database, openDatabase } from '../database';
import { createRenderCache } from '../rendering/rendered-cache';
import { createRenderer } from '../rendering/renderer';
import { supportsFuzzySearch } from '../skills/search-skills';
import { createViewCounter, type ViewCounts } from '../skills/view-counts';

export interface TestPerson {
  userId: string;
  workspaceId: string;
  email: string;
  /** A personal token. */
  token: string;
  /** An access JWT. */
  jwt: string;
  cookie: string;
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Requests with one credential, or with none. */
export type Client = Record<Method, (path: string) => Test>;

export interface TestSkillsApi {
  app: Express;
  url: string;
  database: Database;
  views: ViewCounts;
  closures: WorkspaceClosures;
  keyUse: LastUse;
  person(options?: {
    workspaceId?: string;
    role?: Role;
    email?: string;
    /** Default true. */
    emailVerified?: boolean;
    name?: string | null;
    /** Expiry of the token. */
    expiresAt?: number;
    restriction?: Restriction;
  }): TestPerson;
  workspaceToken(workspaceId: string, role?: Role): string;
  /** Takes the person out of every workspace, as worker-api would say from now on. */
  removeFromWorkspaces(person: TestPerson): void;
  /** A new password by an admin's link, as worker-api would say from now on. */
  replaceHolder(person: TestPerson): void;
  apiKey(person: TestPerson): Promise<{ id: string; key: string }>;
  as(credential: TestPerson | string | null): Client;
  /** Types of the events that wait to be published, oldest first. */
  listOutboxTypes(): Promise<string[]>;
  stop(): Promise<void>;
}

export const SKILLS_URL = 'http://skills.test';

export async function startTestSkillsApi(): Promise<TestSkillsApi> {
  const { log, lines } = captureLogs(process.env.SKILLS_TEST_LOG ?? 'error');
  const database = openDatabase((await createDatabase('skills-api')).url, log, slowPoolOptions);
  const { pool, prisma } = database;
  const identities = new Map<string, Identity>();
  const hasher = createTokenHasher(parseKeyRing(`v1:${Buffer.alloc(32, 7).toString('base64')}`));
  const keyUse = createLastUseTracker({ pool, table: 'api_keys', log });
  const keys = createApiKeyTokens({ prisma, hasher, keyUse });
  const findUserIdentity = (userId: string) =>
    [...identities.values()].find((identity) => identity.userId === userId) ?? null;
  const cache = createIdentityCache(async ({ secret }) =>
    parseOpaqueToken(secret)?.prefix === keys.prefix
      ? keys.identify(secret, async (question) => (question.kind === 'user' ? findUserIdentity(question.userId) : null))
      : (identities.get(secret) ?? null),
  );
  const views = createViewCounter({ pool, log });
  const closures = await watchWorkspaceClosures({ pool, log });
  const renderer = createRenderer({ log });
  const app = createApp({
    database,
    closures,
    health: createHealth({ postgres: createPostgresCheck(pool) }),
    identify: cache.identify,
    hasher,
    views,
    render: createRenderCache(renderer),
    findMembers: async (workspaceId, emails) =>
      [...identities.values()].flatMap(({ kind, userId, email, emailVerified, holderSince = 0, memberships }) =>
        kind === 'session' && userId && email && emails.includes(email) && memberships[workspaceId]
          ? [{ userId, email, emailVerified, holderSince }]
          : [],
      ),
    isFuzzy: await supportsFuzzySearch(pool, log),
    evictKey: cache.evictToken,
    baseUrl: 'http://api.test',
    dashboardUrl: 'http://dashboard.test',
    skillsUrl: SKILLS_URL,
    log,
    rateLimits: { requestsPerMinute: 1e6, runsPerMinute: 1e6, signInsPerMinute: 1e6 },
    validateResponses: true,
  });
  // A client must not find a connection closed that it is about to use again.
  const server = createServer({ keepAliveTimeout: 120_000 }, app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The first request compiles the OpenAPI file.
  const first = await request(app).get('/healthz');
  if (first.status !== 200) throw new Error(JSON.stringify(lines[0]));

  function as(credential: TestPerson | string | null): Client {
    const token = typeof credential === 'object' ? credential?.token : credential;
    const call = (method: Method) => (path: string) => {
      const test = request(app)[method](path);
      return token ? test.set('Authorization', `Bearer ${token}`) : test;
    };
    return { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete') };
  }

  return {
    app,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    database,
    views,
    closures,
    keyUse,
    person: (options = {}) => {
      const { workspaceId = newId('ws_'), role = 'member', email, emailVerified = true, name = 'Ada' } = options;
      const userId = newId('usr_');
      const person = {
        userId,
        workspaceId,
        email: email ?? `${userId.toLowerCase()}@example.test`,
        token: createOpaqueToken('svc_'),
        jwt: ['e30', Buffer.from(userId).toString('base64url'), 'e30'].join('.'),
        cookie: createOpaqueToken('ses_'),
      };
      const identity = {
        userId,
        email: person.email,
        emailVerified,
        ...(!emailVerified && { holderSince: 1 }),
        name,
        tokenId: newId('tok_'),
        defaultWorkspaceId: workspaceId,
        memberships: { [workspaceId]: role },
        expiresAt: options.expiresAt ?? null,
        ...(options.restriction && { restriction: options.restriction }),
      };
      identities.set(person.token, { ...identity, kind: 'personal_token' });
      identities.set(person.cookie, { ...identity, tokenId: newId('ssn_'), kind: 'session' });
      identities.set(person.jwt, { ...identity, tokenId: newId('ssn_'), kind: 'jwt' });
      return person;
    },
    workspaceToken: (workspaceId, role = 'admin') => {
      const token = createOpaqueToken('wst_');
      const memberships = { [workspaceId]: role };
      const identity = {
        userId: null,
        email: null,
        emailVerified: false,
        name: 'CI',
        tokenId: newId('tok_'),
        expiresAt: null,
      };
      identities.set(token, { ...identity, kind: 'workspace_token', defaultWorkspaceId: workspaceId, memberships });
      return token;
    },
    removeFromWorkspaces: ({ userId }) => {
      for (const identity of identities.values()) if (identity.userId === userId) identity.memberships = {};
      cache.evictUser(userId);
    },
    replaceHolder: ({ userId }) => {
      const holderSince = Date.now();
      for (const identity of identities.values()) {
        if (identity.userId === userId) Object.assign(identity, { emailVerified: false, holderSince });
      }
      cache.evictUser(userId);
    },
    apiKey: async (person) => {
      const { body } = await as(person.jwt).post('/api/v1/api-keys').send({ name: 'test' }).expect(201);
      return { id: body.id, key: body.key };
    },
    as,
    listOutboxTypes: async () =>
      (await pool.query('SELECT type FROM outbox ORDER BY created_at, id')).rows.map((row) => row.type),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await closures.stop();
      await renderer.stop();
      await database.close();
    },
  };
}

/** Before the tests of this file or `describe`, and until after them. */
export const testSkillsApi = (): TestSkillsApi => setupResource(startTestSkillsApi, (api) => api.stop());

/** Starts NATS for events of other services, before the tests of this file. */
export function setupTestEvents() {
  const nats = setupNats();
  return { ...captureLogs(), bus: setupBus(nats, 'skills-api'), announcer: setupTestEventPublisher({ nats }) };
}
