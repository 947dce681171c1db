/** The whole service in this process: real app, real PostgreSQL, real NATS, answers checked against the OpenAPI file. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ExternalIssuer, evictOnEvents, trackLastUse } from '@gantry/auth';
import { type Bus, connectBus, ensureStreams, newId, type Role, startRelay } from '@gantry/events';
import { health, postgresCheck, type RateLimits } from '@gantry/http';
import { type CaughtLogs, catchLogs, createDatabase, startTestNats, type TestNats } from '@gantry/testing';
import { type KeyRing, parseKeyRing } from '@gantry/vault';
import request from 'supertest';
import { createApp, type WorkerApp } from '../app';
import { hashPassword } from '../auth/password';
import { type Database, openDatabase } from '../database';
import { serveIntrospection } from '../identity/introspection';
import { createMailer } from '../mail/mailer';
import type { OidcSettings } from '../oidc/identity-provider';
import { insertUser } from '../users/user-repository';
import { insertMembership, insertWorkspace } from '../workspaces/workspace-repository';

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

export interface TestWorkerApi extends WorkerApp {
  /** Where it listens. */
  url: string;
  database: Database;
  /** Another way to the same database, for looking. */
  databaseUrl: string;
  bus: Bus;
  nats: TestNats;
  logs: CaughtLogs;
  /** Setup has been done by this person. */
  owner: Person;
  workspaceId: string;
  /** A workspace that the owner is no member of, with an owner of its own. */
  foreign: { workspaceId: string; owner: Person };
  /** A signed-in person with that role in the owner's workspace. */
  addMember(role: Role): Promise<Person>;
  /** Creates a token as whoever holds the credential. */
  createToken(kind: 'personal' | 'workspace', jwt: string, body?: object): Promise<{ id: string; token: string }>;
  stop(): Promise<void>;
}

const newKeyRing = () => parseKeyRing(`v1:${randomBytes(32).toString('base64')}`);

export interface TestWorkerApiOptions {
  nats?: TestNats;
  rateLimits?: RateLimits;
  reach?: (databaseUrl: string) => Promise<string>;
  smtpUrl?: string;
  oidc?: OidcSettings;
  externalIssuer?: ExternalIssuer;
  tokenPeppers?: KeyRing;
}

export async function startTestWorkerApi(options: TestWorkerApiOptions = {}): Promise<TestWorkerApi> {
  const nats = options.nats ?? (await startTestNats());
  const { url: databaseUrl } = await createDatabase('worker-api');
  const logs = catchLogs();
  const { log } = logs;
  const database = openDatabase((await options.reach?.(databaseUrl)) ?? databaseUrl, log);
  const { pool, prisma } = database;
  const bus = await connectBus({ url: nats.url('worker-api'), name: 'worker-api', log });
  await ensureStreams(bus);
  const relay = startRelay({ pool, bus, service: 'worker-api', log });
  const tokenUse = trackLastUse({ pool, table: 'tokens', log });
  const made = createApp({
    database,
    health: health({ postgres: postgresCheck(pool), nats: () => bus.nc.flush() }),
    tokenUse,
    announce: relay.kick,
    encryptionKeys: newKeyRing(),
    tokenPeppers: options.tokenPeppers ?? newKeyRing(),
    setupToken: SETUP_TOKEN,
    baseUrl: BASE_URL,
    dashboardUrl: DASHBOARD_URL,
    skillsUrl: 'http://skills.test',
    jwtIssuer: BASE_URL,
    jwtAudience: 'gantry',
    externalIssuer: options.externalIssuer,
    oidc: options.oidc,
    mailer: createMailer({ smtpUrl: options.smtpUrl, from: 'Gantry <gantry@api.test>', log }),
    log,
    rateLimits: options.rateLimits ?? generous,
    validateResponses: true,
  });
  const eviction = evictOnEvents(made.identities, { bus, log });
  const responder = serveIntrospection({ bus, introspect: made.introspect, log });
  const server = createServer(made.app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const setup = await request(url)
    .post('/auth/setup')
    .send({ setup_token: SETUP_TOKEN, email: 'owner@example.com', password: PASSWORD, workspace_name: 'Home' })
    .expect(201);
  const workspaceId: string = setup.body.workspace.id;

  async function addPerson(role: Role, workspace: string): Promise<Person> {
    const userId = newId('usr_');
    const email = `${userId.toLowerCase()}@example.com`;
    const passwordHash = await hashPassword(PASSWORD);
    await prisma.$transaction(async (tx) => {
      await insertUser(tx, { id: userId, email, name: null, passwordHash, defaultWorkspaceId: workspace });
      await insertMembership(tx, workspace, userId, role);
    });
    const signedIn = await request(url).post('/auth/login').send({ email, password: PASSWORD }).expect(200);
    return { userId, email, jwt: signedIn.body.access_token, cookie: cookieIn(signedIn) };
  }

  const { id: foreignId } = await insertWorkspace(prisma, { id: newId('ws_'), name: 'Elsewhere' });
  return {
    ...made,
    url,
    database,
    databaseUrl,
    bus,
    nats,
    logs,
    workspaceId,
    owner: {
      userId: setup.body.user.id,
      email: 'owner@example.com',
      jwt: setup.body.access_token,
      cookie: cookieIn(setup),
    },
    foreign: { workspaceId: foreignId, owner: await addPerson('owner', foreignId) },
    addMember: (role) => addPerson(role, workspaceId),
    createToken: async (kind, jwt, body = {}) => {
      const path = kind === 'personal' ? '/auth/tokens' : '/api/workspace/tokens';
      const created = await request(url)
        .post(path)
        .set('Authorization', `Bearer ${jwt}`)
        .send({ name: 'made by a test', ...body })
        .expect(201);
      return created.body;
    },
    stop: async () => {
      eviction.stop();
      responder.stop();
      await closeServer(server);
      await tokenUse.flush();
      await relay.stop();
      await bus.nc.close();
      await database.close();
      if (!options.nats) await nats.stop();
    },
  };
}

/** The value of the session cookie that an answer sets. */
export function cookieIn(answer: request.Response): string {
  const set = ([] as string[]).concat(answer.headers['set-cookie'] ?? []);
  return /svc_cloud_session=([^;]*)/.exec(set.join())?.[1] ?? '';
}

export const withCookie = (cookie: string) => `svc_cloud_session=${cookie}`;

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
