/** A NATS server for one test file, with the accounts, users, permissions and streams of the real one. */
import fs from 'node:fs';
import path from 'node:path';
import {
  type Bus,
  connectBus,
  createExecutorCredentials,
  createKey,
  createServiceCredentials,
  createUserCredentials,
  ensureStreams,
  getExecutorKey,
  type NatsConnectionSettings,
  type NatsSeeds,
  parseSeed,
  type Service,
} from '@gantry/events';
import {
  buildNatsSpec,
  buildNatsUrl,
  findTool,
  getExecutorKeyFile,
  startAndWait,
  writeNatsConfig,
} from '@gantry/platform';
import { pino } from 'pino';
import { reserveFreePort } from './free-port';
import { createTemporaryDir } from './run-dir';
import { setupResource } from './setup-resource';

export interface TestNats {
  /** Address without a credential, which is refused. */
  url: string;
  as(service: Service): NatsConnectionSettings;
  /** Credentials of a new executor each time. */
  newExecutor(): NatsConnectionSettings;
  /** Makes executors: see the executor's enrol.ts. */
  executorKeyFile: string;
  /** Hears and says everything in the account of the services. */
  spectator: NatsConnectionSettings;
  seeds: NatsSeeds;
  /** JetStream's files. */
  storeDir: string;
  /** As a crash would: nothing is flushed, clients are not told. */
  kill(): Promise<void>;
  /** Starts it again after `kill` (or stops it first), on the same port and with the same streams. */
  restart(): Promise<void>;
  /** Like kill and restart, and JetStream's store is gone meanwhile. */
  loseStore(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestNats(): Promise<TestNats> {
  const command = findTool('nats-server');
  if (!command) throw new Error('nats-server was not found, although the test run began by fetching it');
  const options = {
    command,
    dir: createTemporaryDir('nats'),
    port: await reserveFreePort(),
    monitoringPort: await reserveFreePort(),
  };
  const seeds = writeNatsConfig(options);
  const storeDir = path.join(options.dir, 'streams');
  const url = buildNatsUrl(options);
  const spec = buildNatsSpec(options);
  let running = await startAndWait(spec);
  const as = (service: Service) => ({ url, creds: createServiceCredentials(seeds, service) });
  await createStreams(as('worker-api'));
  return {
    url,
    as,
    newExecutor: () => ({ url, creds: createExecutorCredentials(getExecutorKey(seeds)) }),
    executorKeyFile: getExecutorKeyFile(options.dir),
    spectator: { url, creds: createSpectatorCredentials(seeds) },
    seeds,
    storeDir,
    kill: () => running.kill(),
    restart: async () => {
      await running.stop();
      running = await startAndWait(spec);
    },
    loseStore: async () => {
      await running.kill();
      fs.rmSync(storeDir, { recursive: true });
      running = await startAndWait(spec);
    },
    stop: () => running.stop(),
  };
}

/** Makes the streams like worker-api: tests that need no worker-api still need its streams. */
async function createStreams(address: NatsConnectionSettings): Promise<void> {
  const log = pino({ level: 'silent' });
  const bus = await connectBus({ ...address, name: 'test', log });
  const streams = await ensureStreams({ bus, log });
  streams.stop();
  await bus.nc.close();
}

function createSpectatorCredentials(seeds: NatsSeeds): string {
  const everything = { allow: ['>'] };
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const claims = { pub: everything, sub: everything, ...unlimited };
  return createUserCredentials(parseSeed(seeds.servicesAccount), 'spectator', createKey('user'), claims);
}

/** Before the tests of this file or `describe`, and until after them. */
export const setupNats = (): TestNats => setupResource(startTestNats, (nats) => nats.stop());

/** A connection of that service's NATS user, from before the tests until after them. */
export const setupBus = (nats: TestNats, service: Service): Bus =>
  setupResource(
    () => connectBus({ ...nats.as(service), name: 'test', log: pino({ level: 'silent' }) }),
    (bus) => bus.nc.close(),
  );
