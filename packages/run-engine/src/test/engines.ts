/** Starts replicas of a service that owns runs, on one database and one NATS. */

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectBus, PYTHON, type Relay, type RunSource, startRelay, watchWorkspaceClosures } from '@gantry/events';
import { createPool, transaction } from '@gantry/postgres';
import { createDatabase, createFakeExecutor, slowPoolOptions, startTestNats } from '@gantry/testing';
import type { PoolClient } from 'pg';
import { pino } from 'pino';
import { type RunEngine, startRunEngine } from '../engine';
import type { NewRun, Run } from '../run';

type EngineOptions = Partial<Parameters<typeof startRunEngine>[0]> & {
  /** Publishes enqueued events, instead of leaving them in the outbox. */
  relayed?: boolean;
};

export type OwningService = `${RunSource}-api`;

export type TestEngines = Awaited<ReturnType<typeof startTestEngines>>;

const log = pino({ level: 'silent' });
export const tokenKeys = { current: 'v1', keys: new Map([['v1', randomBytes(32)]]) };
const idleRelay: Relay = { kick: () => {}, stop: async () => {} };

export async function startTestEngines(source: RunSource = 'worker') {
  const service: OwningService = `${source}-api`;
  const [database, nats] = await Promise.all([createDatabase(service), startTestNats()]);
  const createReplicaPool = () => createPool(database.url, { ...slowPoolOptions, service, log, max: 8 });
  const pool = createReplicaPool();
  const blobs = new Map<string, Buffer>();
  const resources: (() => Promise<unknown>)[] = [];

  async function connect(user: OwningService | 'executor' | 'spectator') {
    const address = user === 'executor' ? nats.newExecutor() : user === 'spectator' ? nats.spectator : nats.as(user);
    const bus = await connectBus({ ...address, name: user, log });
    resources.push(() => bus.nc.close());
    return bus;
  }

  async function close() {
    for (const closeResource of resources.splice(0).reverse()) await closeResource();
  }

  return {
    database,
    nats,
    pool,
    /** Blobs by key; presigned URLs are `http://objects/<key>`. */
    blobs,
    connect,
    async replica({ relayed = false, ...options }: EngineOptions = {}) {
      const bus = options.bus ?? (await connect(service));
      const replicaPool = createReplicaPool();
      const relay = relayed ? startRelay({ pool: replicaPool, bus, service, log }) : idleRelay;
      const closures = await watchWorkspaceClosures({ pool: replicaPool, bus, log });
      const engine = await startRunEngine({
        reannounce: async () => {},
        source,
        pool: replicaPool,
        objects: {
          presignGet: async (key: string) => `http://objects/${key}`,
          presignPut: async (key: string) => `http://objects/${key}`,
          put: async (key: string, bytes: Buffer) => void blobs.set(key, bytes),
        } as unknown as Parameters<typeof startRunEngine>[0]['objects'],
        relay,
        closures,
        givenTo: async () => ({ secrets: {} }),
        tokenKeys,
        log,
        leaseMs: 20_000,
        ...options,
        bus,
      });
      resources.push(async () => {
        await engine.drain();
        await closures.stop();
        await engine.stop();
        await relay.stop();
        await replicaPool.end();
      });
      // NATS drops a request of an executor whose subscription it does not know yet: accounts get no "no responders".
      await bus.nc.flush();
      return engine;
    },
    /** @param runners its runners; absent: it reports none */
    executor: async (runners?: string[]) => createFakeExecutor(await connect('executor'), source, runners),
    tx: <T>(work: (client: PoolClient) => Promise<T>) => transaction(pool, work),
    /** Closes replicas and executors, and empties the tables. */
    async reset() {
      await close();
      blobs.clear();
      await pool.query('TRUNCATE runs, run_events, run_artifacts, run_steps, outbox, workspace_closures');
    },
    async stop() {
      await close();
      await pool.end();
      await nats.stop();
      await database.drop();
    },
  };
}

/** Submits a run before any later one: the queue orders runs of the same millisecond by their ids. */
export async function submitInTurn(engine: RunEngine, newRun: NewRun): Promise<Run> {
  const run = await engine.submitAndWait(newRun);
  await sleep(2);
  return run;
}

export function buildTestRun(over: Partial<NewRun> = {}): NewRun {
  return {
    workspaceId: 'ws_a',
    subjectId: 'wrk_1',
    kind: 'run',
    trigger: 'api',
    version: 1,
    inputs: { n: 1 },
    createdBy: 'usr_1',
    spec: {
      runner: PYTHON,
      code: { digest: 'a'.repeat(64), key: 'code/a', size: 10 },
      entrypoint: 'main.py',
      dependencies: [],
      outputs: [],
      secrets: [],
      files: [],
      limits: {
        wallMs: 1_000,
        cpuSeconds: 1,
        memoryBytes: 64 << 20,
        processes: 8,
        tmpBytes: 1 << 20,
        outputBytes: 1 << 20,
        logBytes: 1 << 20,
        artifactBytes: 1 << 20,
      },
      network: 'none',
      isolation: 'zygote',
      may: ['approve', 'call'],
    },
    ...over,
  };
}
