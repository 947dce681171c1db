/**
 * The built services as real processes on a PostgreSQL and a NATS of their own, to be killed at will.
 *
 * Gateway and skills-api come when asked for: most tests are about the path of a run. It runs `dist/`, so build first
 * (`npm test` does).
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { decodeClaims, type NatsConnectionSettings } from '@gantry/events';
import {
  buildGatewaySpec,
  buildPostgresSpec,
  buildPostgresUrl,
  findTool,
  type ProcessSpec,
  type RunningProcess,
  startAndWait,
} from '@gantry/platform';
import { slowPoolEnv } from './database';
import { reserveFreePort } from './free-port';
import { copyPreparedCluster, getDatabaseName } from './prepared-cluster';
import { createTemporaryDir } from './run-dir';
import { startTestNats, type TestNats } from './test-nats';
import { findTestUv } from './test-tools';

/** One process that can be killed and started again on the same ports. */
export interface StackProcess {
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
    postgres: StackProcess;
    nats: TestNats;
    workerApis: StackProcess[];
    automationApis: StackProcess[];
    executors: StackProcess[];
    skillsApi?: StackProcess;
    gateway?: StackProcess;
  };
  /** Everything that the services have written to stdout and stderr so far. */
  output(): string;
  stop(): Promise<void>;
}

const root = path.resolve(__dirname, '../../..');
const generateEncryptionKeys = () => `v1:${randomBytes(32).toString('base64')}`;

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
    return { ...(await startProcesses(options, started)), stop };
  } catch (err) {
    await stop();
    throw err;
  }
}

async function startProcesses(
  options: StackOptions,
  started: { stop(): Promise<void> }[],
): Promise<Omit<Stack, 'stop'>> {
  const dir = createTemporaryDir('stack');
  // Executors drop their uid and must still reach their directories.
  fs.chmodSync(dir, 0o711);
  const written: string[] = [];
  const nats = await startTestNats();
  started.push(nats);
  const dataDir = path.join(dir, 'postgres');
  const password = await copyPreparedCluster(dataDir);
  const postgresOptions = { dataDir, port: await reserveFreePort(), password };
  const postgres = await startStackProcess(await buildPostgresSpec(postgresOptions));
  started.push(postgres);
  const getDatabaseUrl = (service: string) => buildPostgresUrl(postgresOptions, getDatabaseName(service));

  const workers = options.workerApis ?? 1;
  const found = await reserveFreePorts(workers + (options.automationApis ?? 1));
  const [workerPorts, automationPorts] = [found.slice(0, workers), found.slice(workers)];
  const workerUrls = workerPorts.map((port) => `http://127.0.0.1:${port}`);
  const automationUrls = automationPorts.map((port) => `http://127.0.0.1:${port}`);
  const [workerUrl] = workerUrls as [string];
  const gatewayPorts = options.gateway ? await reserveFreePorts(3) : [];
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
    ...slowPoolEnv,
    ...options.env,
  };
  const metricsUrls: Stack['metricsUrls'] = [];
  const { codeDir = () => root } = options;
  const setupToken = randomBytes(24).toString('base64url');

  async function startService(name: string, url: string, env: Record<string, string>): Promise<StackProcess> {
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
    const part = await startStackProcess(spec, written);
    started.push(part);
    return part;
  }

  const objectsDir = path.join(dir, 'objects');
  const objectStore = {
    OBJECT_STORE: `file:${objectsDir}`,
    OBJECT_STORE_SIGNING_KEY: randomBytes(32).toString('hex'),
  };
  const workerEnv = {
    DATABASE_URL: getDatabaseUrl('worker-api'),
    ...toNatsEnv(nats.as('worker-api')),
    ENCRYPTION_KEYS: generateEncryptionKeys(),
    TOKEN_PEPPERS: generateEncryptionKeys(),
    SETUP_TOKEN: setupToken,
    ...objectStore,
  };
  // One after the other: the first makes the streams and the keys that the others use.
  const workerApis: StackProcess[] = [];
  for (const [i, url] of workerUrls.entries()) {
    const part = await startService('worker-api', url, {
      ...workerEnv,
      PORT: String(workerPorts[i]),
      METRICS_PORT: String(await reserveFreePort()),
      OBJECT_STORE_INTERNAL_URL: url,
    });
    workerApis.push(part);
  }
  const automationEnv = {
    DATABASE_URL: getDatabaseUrl('automation-api'),
    ...toNatsEnv(nats.as('automation-api')),
    ENCRYPTION_KEYS: generateEncryptionKeys(),
    ...objectStore,
    OBJECT_STORE_INTERNAL_URL: automationUrls[0] ?? '',
    DASHBOARD_DIR: path.join(codeDir('automation-api'), 'packages/dashboard/dist'),
    API_DOCS_DIR: path.join(codeDir('automation-api'), 'packages/api-docs/dist'),
    JWKS_URL: `${workerUrl}/.well-known/jwks.json`,
  };
  const automationApis = await Promise.all(
    automationUrls.map(async (url, i) =>
      startService('automation-api', url, {
        ...automationEnv,
        PORT: String(automationPorts[i]),
        METRICS_PORT: String(await reserveFreePort()),
      }),
    ),
  );
  const skillsPort = await reserveFreePort();
  const skillsApi = options.skillsApi
    ? await startService('skills-api', `http://127.0.0.1:${skillsPort}`, {
        DATABASE_URL: getDatabaseUrl('skills-api'),
        ...toNatsEnv(nats.as('skills-api')),
        TOKEN_PEPPERS: generateEncryptionKeys(),
        JWKS_URL: `${workerUrl}/.well-known/jwks.json`,
        PORT: String(skillsPort),
        METRICS_PORT: String(await reserveFreePort()),
      })
    : undefined;
  const bwrap = findTool('bwrap');
  if (!bwrap) throw new Error('bubblewrap was not found, although the test run began by fetching it');
  const uv = findTestUv();
  const executorPorts = await reserveFreePorts(options.executors ?? 1);
  const executorUrls = executorPorts.map((port) => `http://127.0.0.1:${port}`);
  const executorAddresses = executorUrls.map(() => nats.newExecutor());
  const executors = await Promise.all(
    executorUrls.map((url, i) =>
      startService('executor', url, {
        METRICS_PORT: String(executorPorts[i]),
        ...toNatsEnv(executorAddresses[i] as NatsConnectionSettings),
        EXECUTOR_DIR: path.join(dir, `executor-${i}`),
        BWRAP: bwrap,
        ...(uv && { UV: uv }),
      }),
    ),
  );

  let gateway: StackProcess | undefined;
  if (options.gateway) {
    const toLocalAddress = (port?: number) => `127.0.0.1:${port}`;
    const [worker = 0, automation = 0, pages = 0] = gatewayPorts;
    const spec = buildGatewaySpec({
      command: findTool('nginx') ?? 'nginx',
      dir: createTemporaryDir('gateway'),
      host: '127.0.0.1',
      ports: { worker, dashboard: automation, skills: pages },
      upstreams: {
        workerApi: toLocalAddress(workerPorts[0]),
        automationApi: toLocalAddress(automationPorts[0]),
        skillsApi: toLocalAddress(skillsPort),
      },
    });
    gateway = await startStackProcess(spec, written);
    started.push(gateway);
  }

  const owner = { email: 'owner@example.test', password: 'correct horse battery staple' };
  const { access_token: jwt, workspace } = await postJson(`${workerUrl}/auth/setup`, undefined, {
    setup_token: setupToken,
    ...owner,
  });
  const { token } = await postJson(`${workerUrl}/auth/tokens`, jwt, { name: 'test' });

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
      worker: getDatabaseUrl('worker-api'),
      automation: getDatabaseUrl('automation-api'),
      skills: getDatabaseUrl('skills-api'),
    },
    objectsDir,
    parts: { postgres, nats, workerApis, automationApis, executors, skillsApi, gateway },
    output: () => written.join(''),
  };
}

const toNatsEnv = ({ url, creds = '' }: NatsConnectionSettings) => ({ NATS_URL: url, NATS_CREDS: creds });

async function startStackProcess(spec: ProcessSpec, written?: string[]): Promise<StackProcess> {
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

/** All different: each is held until the last is found. */
async function reserveFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await reserveFreePort());
  return [...found];
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
async function postJson(url: string, token: string | undefined, body: unknown): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
}
