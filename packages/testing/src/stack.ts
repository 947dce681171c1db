/**
 * The built services as real processes on a PostgreSQL and a NATS of their own, to be killed at will.
 *
 * Gateway and skills-api come when asked for: most tests are about the path of a run. It runs `dist/`, so build first
 * (`npm test` does).
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { decodeClaims, type NatsAddress } from '@gantry/events';
import {
  buildGatewaySpec,
  buildPostgresSpec,
  findTool,
  listServiceMigrationFolders,
  migrate,
  type ProcessSpec,
  postgresUrl,
  type RunningProcess,
  startAndWait,
} from '@gantry/platform';
import { Client } from 'pg';
import { freePort } from './free-port';
import { temporaryDir } from './run-dir';
import { startTestNats, type TestNats } from './test-nats';
import { findTestUv } from './test-tools';

/** One process that can be killed and started again on the same ports. */
export interface Part {
  name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Suspends it, with its connections open, until it is resumed. */
  pause(): void;
  resume(): void;
}

export interface Stack {
  /** One for each replica. */
  workerUrls: string[];
  automationUrls: string[];
  /** Addresses of the executors' `/metrics` and `/healthz`. */
  executorUrls: string[];
  /** Ids of the executors, by which runs are leased to them; a restart keeps them. */
  executorIds: string[];
  /** Addresses of `/metrics` of every service and replica, by name, such as `worker-api`. */
  metricsUrls: { service: string; url: string }[];
  /** The public addresses; undefined without a gateway. */
  gateway?: { worker: string; dashboard: string; skills: string };
  /** The account with which pages are opened. */
  owner: { email: string; password: string };
  /** A personal token of the owner. */
  token: string;
  workspaceId: string;
  databaseUrls: { worker: string; automation: string; skills: string };
  /** Directory of the object store, whose files are named by key. */
  objectsDir: string;
  parts: {
    postgres: Part;
    nats: TestNats;
    workerApis: Part[];
    automationApis: Part[];
    executors: Part[];
    skillsApi?: Part;
    gateway?: Part;
  };
  /** Everything that the services have written to stdout and stderr so far. */
  output(): string;
  stop(): Promise<void>;
}

const root = path.resolve(__dirname, '../../..');
const key = () => `v1:${randomBytes(32).toString('base64')}`;

export interface StackOptions {
  /** Replicas of each, default 1. */
  workerApis?: number;
  automationApis?: number;
  executors?: number;
  skillsApi?: boolean;
  /** nginx in front of the first replica of each; needs skillsApi. */
  gateway?: boolean;
  env?: Record<string, string>;
  /** The directory with the layout of a checkout that a service's built code is in; default: this checkout. */
  codeDir?: (service: string) => string;
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const started: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    return { ...(await startParts(options, started)), stop };
  } catch (err) {
    await stop();
    throw err;
  }
}

async function startParts(options: StackOptions, started: { stop(): Promise<void> }[]): Promise<Omit<Stack, 'stop'>> {
  const dir = temporaryDir('stack');
  // Executors drop their uid and must still reach their directories.
  fs.chmodSync(dir, 0o711);
  const written: string[] = [];
  const nats = await startTestNats();
  started.push(nats);
  const postgresOptions = {
    dataDir: path.join(dir, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
  };
  const postgres = await startPart(await buildPostgresSpec(postgresOptions));
  started.push(postgres);
  const databaseUrl = (service: string) => postgresUrl(postgresOptions, service.replace('-', '_'));
  await createDatabases(postgresUrl(postgresOptions, 'postgres'));
  for (const service of [
    'worker-api',
    'automation-api',
    ...(options.skillsApi ? ['skills-api' as const] : []),
  ] as const) {
    await migrate(databaseUrl(service), ...listServiceMigrationFolders(service));
  }

  const workers = options.workerApis ?? 1;
  const found = await ports(workers + (options.automationApis ?? 1));
  const [workerPorts, automationPorts] = [found.slice(0, workers), found.slice(workers)];
  const workerUrls = workerPorts.map((port) => `http://127.0.0.1:${port}`);
  const automationUrls = automationPorts.map((port) => `http://127.0.0.1:${port}`);
  const [workerUrl] = workerUrls as [string];
  const gatewayPorts = options.gateway ? await ports(3) : [];
  const [base = workerUrl, dashboard = automationUrls[0] ?? workerUrl, skills = workerUrl] = gatewayPorts.map(
    (port) => `http://127.0.0.1:${port}`,
  );
  const shared = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'debug',
    BASE_URL: base,
    DASHBOARD_URL: dashboard,
    SKILLS_URL: skills,
    RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000',
    RATE_LIMIT_RUNS_PER_MINUTE: '1000000',
    ...options.env,
  };
  const metricsUrls: Stack['metricsUrls'] = [];
  const { codeDir = () => root } = options;
  const setupToken = randomBytes(24).toString('base64url');

  async function service(name: string, url: string, env: Record<string, string>): Promise<Part> {
    metricsUrls.push({ service: name, url: `http://127.0.0.1:${env.METRICS_PORT}/metrics` });
    const spec: ProcessSpec = {
      name,
      command: process.execPath,
      args: [path.join(codeDir(name), 'services', name, 'dist/main.js')],
      env: { ...shared, ...env },
      stopTimeoutMs: 20_000,
      readyTimeoutMs: 60_000,
      isReady: async () => (await fetch(`${url}/health`)).ok,
    };
    const part = await startPart(spec, written);
    started.push(part);
    return part;
  }

  const objectsDir = path.join(dir, 'objects');
  const objectStore = {
    OBJECT_STORE: `file:${objectsDir}`,
    OBJECT_STORE_SIGNING_KEY: randomBytes(32).toString('hex'),
  };
  const workerEnv = {
    DATABASE_URL: databaseUrl('worker-api'),
    ...toNatsEnv(nats.as('worker-api')),
    ENCRYPTION_KEYS: key(),
    TOKEN_PEPPERS: key(),
    SETUP_TOKEN: setupToken,
    ...objectStore,
  };
  // One after the other: the first makes the streams and the keys that the others use.
  const workerApis: Part[] = [];
  for (const [i, url] of workerUrls.entries()) {
    const part = await service('worker-api', url, {
      ...workerEnv,
      PORT: String(workerPorts[i]),
      METRICS_PORT: String(await freePort()),
      OBJECT_STORE_INTERNAL_URL: url,
    });
    workerApis.push(part);
  }
  const automationEnv = {
    DATABASE_URL: databaseUrl('automation-api'),
    ...toNatsEnv(nats.as('automation-api')),
    ENCRYPTION_KEYS: key(),
    ...objectStore,
    OBJECT_STORE_INTERNAL_URL: automationUrls[0] ?? '',
    DASHBOARD_DIR: path.join(codeDir('automation-api'), 'packages/dashboard/dist'),
    API_DOCS_DIR: path.join(codeDir('automation-api'), 'packages/api-docs/dist'),
    JWKS_URL: `${workerUrl}/.well-known/jwks.json`,
  };
  const automationApis = await Promise.all(
    automationUrls.map(async (url, i) =>
      service('automation-api', url, {
        ...automationEnv,
        PORT: String(automationPorts[i]),
        METRICS_PORT: String(await freePort()),
      }),
    ),
  );
  const skillsPort = await freePort();
  const skillsApi = options.skillsApi
    ? await service('skills-api', `http://127.0.0.1:${skillsPort}`, {
        DATABASE_URL: databaseUrl('skills-api'),
        ...toNatsEnv(nats.as('skills-api')),
        TOKEN_PEPPERS: key(),
        JWKS_URL: `${workerUrl}/.well-known/jwks.json`,
        PORT: String(skillsPort),
        METRICS_PORT: String(await freePort()),
      })
    : undefined;
  const bwrap = findTool('bwrap');
  if (!bwrap) throw new Error('bubblewrap was not found, although the test run began by fetching it');
  const uv = findTestUv();
  const executorPorts = await ports(options.executors ?? 1);
  const executorUrls = executorPorts.map((port) => `http://127.0.0.1:${port}`);
  const executorAddresses = executorUrls.map(() => nats.newExecutor());
  const executors = await Promise.all(
    executorUrls.map((url, i) =>
      service('executor', url, {
        METRICS_PORT: String(executorPorts[i]),
        ...toNatsEnv(executorAddresses[i] as NatsAddress),
        EXECUTOR_DIR: path.join(dir, `executor-${i}`),
        BWRAP: bwrap,
        ...(uv && { UV: uv }),
      }),
    ),
  );

  let gateway: Part | undefined;
  if (options.gateway) {
    const at = (port?: number) => `127.0.0.1:${port}`;
    const [worker = 0, automation = 0, pages = 0] = gatewayPorts;
    const spec = buildGatewaySpec({
      command: findTool('nginx') ?? 'nginx',
      dir: temporaryDir('gateway'),
      host: '127.0.0.1',
      ports: { worker, dashboard: automation, skills: pages },
      upstreams: { workerApi: at(workerPorts[0]), automationApi: at(automationPorts[0]), skillsApi: at(skillsPort) },
    });
    gateway = await startPart(spec, written);
    started.push(gateway);
  }

  const owner = { email: 'owner@example.test', password: 'correct horse battery staple' };
  const { access_token: jwt, workspace } = await post(`${workerUrl}/auth/setup`, undefined, {
    setup_token: setupToken,
    ...owner,
  });
  const { token } = await post(`${workerUrl}/auth/tokens`, jwt, { name: 'test' });

  return {
    workerUrls,
    automationUrls,
    executorUrls,
    executorIds: executorAddresses.map(({ creds = '' }) => decodeClaims(creds).name),
    metricsUrls,
    ...(gateway && { gateway: { worker: base, dashboard, skills } }),
    owner,
    token,
    workspaceId: workspace.id,
    databaseUrls: {
      worker: databaseUrl('worker-api'),
      automation: databaseUrl('automation-api'),
      skills: databaseUrl('skills-api'),
    },
    objectsDir,
    parts: { postgres, nats, workerApis, automationApis, executors, skillsApi, gateway },
    output: () => written.join(''),
  };
}

const toNatsEnv = ({ url, creds = '' }: NatsAddress) => ({ NATS_URL: url, NATS_CREDS: creds });

async function startPart(spec: ProcessSpec, written?: string[]): Promise<Part> {
  let running: RunningProcess;
  const start = async () => {
    running = await startAndWait(spec);
    for (const stream of [running.stdout, running.stderr]) {
      stream.on('data', (chunk) => void written?.push(String(chunk)));
    }
  };
  await start();
  return {
    name: spec.name,
    start,
    kill: () => running.kill(),
    stop: () => running.stop(),
    pause: () => signalTree(running.pid, 'SIGSTOP'),
    resume: () => signalTree(running.pid, 'SIGCONT'),
  };
}

/** The process and what it has started: PostgreSQL's backends are no group of its. */
function signalTree(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    for (const child of children) signalTree(Number(child), signal);
  } catch {
    // It has ended meanwhile, which a backend may do at any time.
  }
}

async function createDatabases(adminUrl: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl });
  await admin.connect();
  for (const name of ['worker_api', 'automation_api', 'skills_api']) await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
}

/** All different: each is held until the last is found. */
async function ports(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await freePort());
  return [...found];
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
async function post(url: string, token: string | undefined, body: unknown): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}
