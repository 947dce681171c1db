/** The environment of each of our own processes. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { toReachableDir } from '../dirs/reachable-dir';
import { checkoutDir } from '../dirs/shared-dir';
import { buildNatsUrl, getCredsFile, getExecutorKeyFile } from '../nats/nats';
import { buildPostgresUrl } from '../postgres/postgres';
import { databases, type ServiceName } from '../service-names';
import { livenessProbes } from '../supervise/liveness';
import { isHealthy } from '../supervise/probe';
import type { ProcessSpec } from '../supervise/process';
import { type RunOnceOptions, runOnce } from '../supervise/run-once';
import type { LocalState } from './local-state';
import type { Settings } from './settings';

/**
 * An idle service keeps what its busiest moment needed, unless told otherwise. Measured as the proportional set size of
 * all processes after 800 requests: 535 MB with the small young generation alone, 418 MB with one V8 worker thread,
 * whose compiler scratch memory is what stays; the malloc settings give back another 60 MB. None cost measurable time
 * on two cores.
 */
const nodeFlags = ['--max-semi-space-size=4', '--max-old-space-size=512', '--v8-pool-size=1'];
const READY_TIMEOUT_MS = 2_000;
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: String(1 << 20) };

export interface ServiceOptions {
  settings: Settings;
  state: LocalState;
  /** Without one, the services listen on the public ports themselves. */
  gateway: boolean;
  inherited: NodeJS.ProcessEnv;
}

/** The secret that lets a person create the first owner; a new one for each start. */
export const newSetupToken = (): string => randomBytes(24).toString('base64url');

export function getDatabaseUrl(
  { settings, state }: Pick<ServiceOptions, 'settings' | 'state'>,
  service: ServiceName,
): string {
  const own = { port: settings.ports.postgres, password: state.keys.postgresPassword };
  return settings.externalDatabases[service] ?? buildPostgresUrl(own, databases[service].name);
}

export function buildWorkerApiSpec(options: ServiceOptions, setupToken: string): ProcessSpec {
  const { keys } = options.state;
  return buildApiSpec('worker-api', options, {
    ENCRYPTION_KEYS: keys.encryptionKeys.workerApi,
    TOKEN_PEPPERS: keys.tokenPeppers,
    SETUP_TOKEN: setupToken,
    AUTOMATION_API_URL: `http://127.0.0.1:${getServicePort('automation-api', options)}`,
    SKILLS_API_URL: `http://127.0.0.1:${getServicePort('skills-api', options)}`,
    ...buildObjectStoreEnv('worker-api', options),
  });
}

export function buildAutomationApiSpec(options: ServiceOptions): ProcessSpec {
  const { state, settings } = options;
  return buildApiSpec('automation-api', options, {
    ENCRYPTION_KEYS: state.keys.encryptionKeys.automationApi,
    ...buildObjectStoreEnv('automation-api', options),
    DASHBOARD_DIR: path.join(checkoutDir, 'packages/dashboard/dist'),
    API_DOCS_DIR: path.join(checkoutDir, 'packages/api-docs/dist'),
    JWKS_URL: getJwksUrl(options),
    JWT_ISSUER: settings.urls.base,
  });
}

export function buildSkillsApiSpec(options: ServiceOptions): ProcessSpec {
  return buildApiSpec('skills-api', options, {
    TOKEN_PEPPERS: options.state.keys.tokenPeppers,
    JWKS_URL: getJwksUrl(options),
    JWT_ISSUER: options.settings.urls.base,
  });
}

/** One store for both: every key names a workspace and what it is for. Each signs URLs that lead to itself. */
const buildObjectStoreEnv = (service: ServiceName, options: ServiceOptions): Record<string, string> => ({
  OBJECT_STORE: options.inherited.OBJECT_STORE || `file:${path.join(options.state.dir, 'objects')}`,
  OBJECT_STORE_SIGNING_KEY: options.state.keys.objectStoreSigningKey,
  OBJECT_STORE_INTERNAL_URL: `http://127.0.0.1:${getServicePort(service, options)}`,
});

const getJwksUrl = (options: ServiceOptions) =>
  `http://127.0.0.1:${getServicePort('worker-api', options)}/.well-known/jwks.json`;

function getServicePort(service: ServiceName, { settings, gateway }: ServiceOptions): number {
  if (gateway) return settings.ports.services[service];
  const { worker, dashboard, skills } = settings.ports;
  return { 'worker-api': worker, 'automation-api': dashboard, 'skills-api': skills }[service];
}

function buildApiSpec(service: ServiceName, options: ServiceOptions, own: Record<string, string>): ProcessSpec {
  const { settings, gateway } = options;
  const address = { host: gateway ? '127.0.0.1' : settings.host, port: getServicePort(service, options) };
  return {
    name: service,
    command: process.execPath,
    args: [...nodeFlags, path.join(checkoutDir, 'services', service, 'dist/main.js')],
    env: {
      ...malloc,
      ...filterEnv(service === 'worker-api' ? options.inherited : omitWorkerApiVariables(options.inherited)),
      NODE_ENV: 'production',
      HOST: address.host,
      PORT: String(address.port),
      METRICS_PORT: String(settings.ports.metrics[service]),
      DATABASE_URL: getDatabaseUrl(options, service),
      NATS_URL: getNatsUrl(options),
      ...(hasCredentials(settings) && { NATS_CREDS_FILE: getCredsFile(getNatsDir(options), service) }),
      BASE_URL: settings.urls.base,
      DASHBOARD_URL: settings.urls.dashboard,
      SKILLS_URL: settings.urls.skills,
      ...own,
    },
    // A waited run may take 10 s; the services give answers under way 12 s.
    stopTimeoutMs: 15_000,
    isReady: () => isHealthy({ ...address, paths: ['/health'] }, READY_TIMEOUT_MS),
    liveness: { ...livenessProbes[service], ...address },
  };
}

/** It holds no credential but that of its own NATS user: of our environment it gets only what is named here. */
const EXECUTOR_VARIABLES =
  /^(PATH|LANG|TZ|TMPDIR|LOG_LEVEL|SSL_CERT_FILE|NODE_EXTRA_CA_CERTS|(PIP|EXECUTOR|EGRESS)_\w+|PYTHON)$/;

export interface ExecutorPrograms {
  bwrap: string;
  /** Without it, pip installs packages. */
  uv: string | undefined;
}

export function buildExecutorSpec(options: ServiceOptions, { bwrap, uv }: ExecutorPrograms): ProcessSpec {
  const { settings, state, inherited } = options;
  const port = settings.ports.metrics.executor;
  const dir = inherited.EXECUTOR_DIR || toReachableDir(state.dir, 'executor');
  fs.mkdirSync(path.dirname(dir), { recursive: true, mode: 0o755 });
  const env = {
    ...malloc,
    ...filterEnv(inherited, EXECUTOR_VARIABLES),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    METRICS_PORT: String(port),
    NATS_URL: getNatsUrl(options),
    EXECUTOR_DIR: dir,
    EXECUTOR_DRAIN_MS: inherited.EXECUTOR_DRAIN_MS ?? '5000',
    BWRAP: bwrap,
    ...(uv && { UV: uv }),
  };
  const enrolment = buildEnrolment(options, env);
  return {
    name: 'executor',
    command: process.execPath,
    args: [...nodeFlags, path.join(checkoutDir, 'services/executor/dist/main.js')],
    env,
    prepare: async () => {
      if (enrolment) await runOnce(enrolment);
    },
    isOptional: true,
    stopTimeoutMs: 10_000,
    isReady: () => isHealthy({ port, paths: ['/health'] }, READY_TIMEOUT_MS),
    liveness: { ...livenessProbes.executor, port },
  };
}

/** Makes the executor's NATS user, unless it has one: the executor itself never sees the key that this takes. */
function buildEnrolment(options: ServiceOptions, env: NodeJS.ProcessEnv): RunOnceOptions | undefined {
  if (!hasCredentials(options.settings)) return undefined;
  return {
    script: path.join(checkoutDir, 'services/executor/dist/enrol.js'),
    env: { ...env, NATS_EXECUTOR_SEED_FILE: getExecutorKeyFile(getNatsDir(options)) },
  };
}

/** Directory of the server's accounts and of the credentials of its users. */
export const getNatsDir = ({ settings, state }: Pick<ServiceOptions, 'settings' | 'state'>): string =>
  settings.natsCredentials ?? path.join(state.dir, 'nats');

/** If there are none, the operator of the server has put user and password into its address. */
const hasCredentials = ({ externalNats, natsCredentials }: Settings): boolean =>
  !externalNats || natsCredentials !== undefined;

const getNatsUrl = ({ settings }: ServiceOptions): string =>
  settings.externalNats ?? buildNatsUrl({ port: settings.ports.nats });

/** Read by worker-api alone, and full of keys. */
const WORKER_API_VARIABLES = /^(MODEL_PROVIDERS|MODEL_ALIASES|OAUTH_APPS)(_FILE)?$/;

/** The environment of every process but worker-api. */
export const omitWorkerApiVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !WORKER_API_VARIABLES.test(name)));

/** The variables that are set, by default without those that npm adds: they describe the launcher, not the services. */
function filterEnv(env: NodeJS.ProcessEnv, only = /^(?!npm_)/): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && only.test(entry[0])),
  );
}
