/** Options of the whole service except listening: main.ts fills them from the environment, tests choose their own. */
import {
  createAuthenticator,
  createRemoteIdentityResolver,
  createTokenHasher,
  type ExternalIssuer,
  type Identify,
} from '@gantry/auth';
import {
  connectBus,
  getRunEventsStreamName,
  type NatsConnectionSettings,
  startChangeHintPublisher,
  startRelay,
  watchWorkspaceClosures,
} from '@gantry/events';
import { observeService } from '@gantry/http';
import { type ObjectStoreSettings, openObjectStore } from '@gantry/object-store';
import type { PoolSettings } from '@gantry/postgres';
import { type RetentionBounds, startRunEngine } from '@gantry/run-engine';
import { type SurfaceSettings, startSweeps } from '@gantry/service';
import { createSecretStore, createVault, deriveKeys, type KeyRing, loadRunSecrets } from '@gantry/vault';
import { createApp } from './app';
import { announceDependencies } from './artifacts/announce-dependencies';
import { createRunnableCache } from './artifacts/runnable';
import { createRecentAutomationCache, IS_CURRENT_SQL } from './automations/current-version';
import { openDatabase } from './database';
import type { Deps } from './deps';
import { listSweeps } from './housekeeping';
import { startScheduleTicker } from './starters/schedule-ticker';
import { serveAutomationStats } from './system/automation-stats';
import { consumeWorkspaceEvents } from './workspaces/workspace-events';

export interface AutomationApiOptions extends SurfaceSettings {
  databaseUrl: string;
  pool?: PoolSettings;
  nats: NatsConnectionSettings;
  encryptionKeys: KeyRing;
  objectStore: Omit<ObjectStoreSettings, 'publicUrl'>;
  dashboardDir: string;
  retention: RetentionBounds;
  apiDocsDir?: string;
  jwt: { jwksUrl: string; issuer: string; audience: string; externalIssuer?: ExternalIssuer | undefined };
  /** Tests: identifies callers without a worker-api. */
  identify?: Identify;
  /** Tests: the clock of schedules. */
  now?: () => Date;
  /** Tests: false leaves schedules to `ticker.tick()`. */
  autoTick?: boolean;
}

export type AutomationApi = Awaited<ReturnType<typeof startAutomationApi>>;

export async function startAutomationApi(options: AutomationApiOptions) {
  const { log, dashboardUrl, baseUrl, skillsUrl, traceUrlTemplate } = options;
  const objects = openObjectStore({ ...options.objectStore, publicUrl: dashboardUrl });
  const database = openDatabase(options.databaseUrl, log, options.pool);
  const { pool, prisma } = database;
  const bus = await connectBus({ ...options.nats, name: 'automation-api', log });
  const ownStreams = [getRunEventsStreamName('automation')];
  const relay = startRelay({ pool, bus, service: 'automation-api', log });
  const changeHints = startChangeHintPublisher({ pool, bus, service: 'automation-api' });
  const vault = createVault({ keys: options.encryptionKeys, pool });
  const secrets = createSecretStore({ pool, vault });
  const runnables = createRunnableCache(prisma);
  const now = options.now ?? (() => new Date());
  const closures = await watchWorkspaceClosures({ pool, bus, log });
  const engine = await startRunEngine({
    source: 'automation',
    pool,
    bus,
    objects,
    relay,
    closures,
    tokenKeys: deriveKeys(options.encryptionKeys, 'run tokens'),
    givenTo: (run) => loadRunSecrets({ secrets, log }, run),
    isCurrent: IS_CURRENT_SQL,
    reannounce: async ({ workspaceId, codeId }) =>
      announceDependencies({ bus, pool, log }, workspaceId, (await runnables.get(workspaceId, codeId)).spec),
    log,
  });
  const ticker = startScheduleTicker(
    { pool, prisma, engine, objects, runnables, now, log },
    { auto: options.autoTick ?? true },
  );
  const consumers = consumeWorkspaceEvents({ bus, pool, objects, vault, log });
  const stats = serveAutomationStats({ bus, pool, engine, log });
  const housekeeping = startSweeps(
    listSweeps({ pool, prisma, objects, vault, retention: options.retention, now }),
    log,
  );
  const remote = options.identify ? null : createRemoteIdentityResolver({ bus, ...options.jwt, log });
  const identify = options.identify ?? (remote as NonNullable<typeof remote>).identify;
  const { checks, unobserve } = observeService(
    { service: 'automation-api', pool, bus, streams: ownStreams, objects },
    log,
  );
  const recent = createRecentAutomationCache();
  const deps: Deps = {
    prisma,
    pool,
    bus,
    closures,
    engine,
    objects,
    secrets,
    runnables,
    recent,
    dashboardUrl,
    traceUrlTemplate,
    now,
    log,
  };
  const app = createApp({
    ...options,
    deps,
    health: checks,
    authenticate: createAuthenticator({ identify, closures, publicUrls: [baseUrl, dashboardUrl, skillsUrl] }),
    hasher: createTokenHasher(deriveKeys(options.encryptionKeys, 'requests')),
    ...(objects.driver === 'file' && { fileStore: objects }),
  });
  return {
    app,
    deps,
    engine,
    relay,
    ticker,
    health: checks,
    /** Makes readiness 503 and hands held work back; requests are still answered. */
    drain: async () => {
      checks.drain();
      stats.stop();
      housekeeping.stop();
      await ticker.stop();
      await engine.drain();
    },
    /** Closes the connections, after the last response. */
    close: async () => {
      for (const consumer of consumers) await consumer.stop();
      await closures.stop();
      await engine.stop();
      await relay.stop();
      unobserve();
      changeHints.stop();
      remote?.stop();
      await bus.nc.drain();
      await database.close();
    },
  };
}
