/** The order in which the platform comes up. */
import path from 'node:path';
import { sweepReachableDirs, toReachableDir } from '../dirs/reachable-dir';
import { buildGatewaySpec } from '../gateway/gateway';
import { buildNatsSpec } from '../nats/nats';
import { buildPostgresSpec } from '../postgres/postgres';
import { databases, serviceNames } from '../service-names';
import { runOnce } from '../supervise/run-once';
import { type Supervisor, startSupervisor } from '../supervise/supervise';
import { ensureTool } from '../tools/fetch-tool';
import type { ToolName } from '../tools/find-tool';
import { formatBanner } from './banner';
import { type LocalState, loadOrCreateLocalState } from './local-state';
import type { Progress } from './progress';
import { requireFreePorts } from './require-free-ports';
import {
  buildAutomationApiSpec,
  buildExecutorSpec,
  buildSkillsApiSpec,
  buildWorkerApiSpec,
  getDatabaseUrl,
  getNatsDir,
  newSetupToken,
  omitWorkerApiVariables,
  type ServiceOptions,
} from './services';
import { setUp } from './set-up';
import { listPorts, type Settings } from './settings';

export interface LaunchOptions {
  settings: Settings;
  progress: Progress;
  inherited: NodeJS.ProcessEnv;
  /** The process that this one is to end with. */
  parent?: number;
}

export type Platform = ReturnType<typeof launch>;

/** Like PostgreSQL's: a number without a user. */
const GATEWAY_UID = 60_907;

export function launch(options: LaunchOptions) {
  const { settings, progress } = options;
  const state = loadOrCreateLocalState(settings.dataDir);
  const supervisor = startSupervisor({ dir: settings.dataDir, show: progress.warn, parent: options.parent });
  return {
    /** Settles when everything runs, or when something could not be started. */
    ready: supervisor.then((started) => startPlatform(options, state, started)),
    /** See Supervisor. */
    restart: (name: string) => supervisor.then((started) => started.restart(name)),
    stop: () =>
      supervisor.then(
        (started) => started.stop(),
        () => {},
      ),
    kill: () => void supervisor.then((started) => started.kill()),
  };
}

async function startPlatform(options: LaunchOptions, state: LocalState, supervisor: Supervisor): Promise<void> {
  const { settings, progress, inherited } = options;
  await requireFreePorts(listPorts(settings));
  sweepReachableDirs();
  const notes: string[] = [];
  const findOptionalTool = async (name: ToolName, consequence: string) => {
    try {
      return await ensureTool(name, { onStep: progress.step });
    } catch (err) {
      notes.push(`${(err as Error).message}. ${consequence}`);
      return undefined;
    }
  };
  const tools = Promise.all([
    findOptionalTool(
      'nginx',
      'Until then, the services listen on the public ports directly: sign in at the address of the Worker API.',
    ),
    findOptionalTool('bwrap', 'Until then, runs stay in the queue, because they are executed only in a sandbox.'),
    findOptionalTool('uv', 'Until then, Python packages are installed with pip, which is slower.'),
  ]);

  progress.step('starting PostgreSQL and NATS');
  await Promise.all([startDatabases(options, state, supervisor), startNats(options, state, supervisor)]);
  const [nginx, bwrap, uv] = await tools;

  progress.step('starting the services');
  const setupToken = newSetupToken();
  const services: ServiceOptions = { settings, state, inherited, gateway: nginx !== undefined };
  const [serving, executing] = await Promise.allSettled([
    supervisor.start(
      buildWorkerApiSpec(services, setupToken),
      buildAutomationApiSpec(services),
      buildSkillsApiSpec(services),
    ),
    bwrap && supervisor.start(buildExecutorSpec(services, { bwrap, uv })),
  ]);
  if (serving.status === 'rejected') throw serving.reason;
  if (executing.status === 'rejected') throw executing.reason;
  const [executorError] = executing.value || [];
  if (executorError) {
    notes.push(`Runs stay in the queue until the executor starts; Gantry keeps retrying. ${executorError.message}`);
  }
  if (nginx) await supervisor.start(buildGateway(settings, state, nginx));

  const executes = Boolean(bwrap) && !executorError;
  const { local, sample } = await setUp({ settings, state, progress, setupToken, executes });
  process.stdout.write(formatBanner({ settings, local, sample, seconds: progress.seconds(), notes }));
}

async function startDatabases({ settings, inherited }: LaunchOptions, state: LocalState, supervisor: Supervisor) {
  if (serviceNames.some((service) => !settings.externalDatabases[service])) {
    const { postgresPassword: password } = state.keys;
    const dataDir = path.join(state.dir, 'postgres');
    await supervisor.start(await buildPostgresSpec({ dataDir, port: settings.ports.postgres, password }));
  }
  const urls = serviceNames.map((service) => [
    databases[service].variable,
    getDatabaseUrl({ settings, state }, service),
  ]);
  await runOnce({
    script: path.join(__dirname, '../migrate-main.js'),
    args: ['--create'],
    env: { ...omitWorkerApiVariables(inherited), ...Object.fromEntries(urls) },
  });
}

async function startNats({ settings, progress }: LaunchOptions, state: LocalState, supervisor: Supervisor) {
  if (settings.externalNats) return;
  const { nats: port, natsMonitoring: monitoringPort } = settings.ports;
  const own = { dir: getNatsDir({ settings, state }), port, monitoringPort };
  const [command] = await Promise.all([
    ensureTool('nats-server', { onStep: progress.step }),
    runOnce({
      script: path.join(__dirname, '../nats/nats-config-main.js'),
      args: [own.dir, '--port', String(port), '--monitoring-port', String(monitoringPort)],
    }),
  ]);
  await supervisor.start(buildNatsSpec({ ...own, command }));
}

function buildGateway(settings: Settings, state: LocalState, command: string) {
  const { worker, dashboard, skills, services } = settings.ports;
  const asRoot = process.getuid?.() === 0;
  const toLocalAddress = (port: number) => `127.0.0.1:${port}`;
  return buildGatewaySpec({
    command,
    dir: toReachableDir(state.dir, 'gateway'),
    host: settings.host,
    trustedProxy: settings.trustedProxy,
    ports: { worker, dashboard, skills },
    upstreams: {
      workerApi: toLocalAddress(services['worker-api']),
      automationApi: toLocalAddress(services['automation-api']),
      skillsApi: toLocalAddress(services['skills-api']),
    },
    // Only root may open a port below 1024.
    owner: asRoot && worker >= 1024 ? GATEWAY_UID : undefined,
  });
}
