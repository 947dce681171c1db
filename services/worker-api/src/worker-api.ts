/** Starts the whole service except for listening, with options from main.ts or from tests. */
import { createLastUseTracker, createTokenHasher, subscribeEvictions } from '@gantry/auth';
import {
  connectBus,
  EVENTS_STREAM,
  ensureStreams,
  getRunEventsStreamName,
  MODELS_CONNECTION,
  type NatsConnectionSettings,
  startChangeHintPublisher,
  startRelay,
  watchWorkspaceClosures,
} from '@gantry/events';
import { observeService, type SurfaceUrls } from '@gantry/http';
import { createRateCounter } from '@gantry/limits';
import { type ObjectStoreSettings, openObjectStore } from '@gantry/object-store';
import type { PoolSettings } from '@gantry/postgres';
import { type RetentionBounds, startRunEngine } from '@gantry/run-engine';
import { type SurfaceSettings, startSweeps } from '@gantry/service';
import { createKeyRotation, createSecretStore, createVault, deriveKeys, type KeyRing } from '@gantry/vault';
import { serveIntrospection } from './accounts/identity/introspection';
import { serveMembers } from './accounts/members/serve-members';
import { startDeliveryLoop } from './alerts/delivery-loop';
import { type AppDeps, type AppOptions, createApp } from './app';
import { startApprovalSweeper } from './approvals/approval-sweeper';
import { suspendForApproval } from './approvals/request-approval';
import { createChangeHub } from './changes/change-hub';
import { listRunTools, prepareTool } from './connection-tools/run-tools';
import { startConnectionLoop } from './connections/connection-loop';
import type { McpClient } from './connections/mcp-client-types';
import { openDatabase } from './database';
import { startEvaluationLoop } from './evaluations/evaluation-loop';
import { startEventHandlers } from './event-handlers';
import { listSweeps } from './housekeeping';
import { listUnusedApps } from './integrations/integrations';
import type { OauthApps } from './integrations/oauth-apps';
import { createMailer } from './mail/mailer';
import { createCachingClient } from './mcp-client/caching-client';
import { createLazyMcpClient } from './mcp-client/load-mcp-client';
import type { ModelSettings } from './models/model-registry';
import { listProvidersWithKey } from './models/provider-repository';
import { listRunModels, prepareModel } from './models/run-model';
import { createWorkspaceModels } from './models/workspace-models';
import { createOutcomeJudge } from './rehearsals/outcome-judge';
import { createCandidateDecisions } from './repairs/decide-repair';
import { startRepairLoop } from './repairs/repair-loop';
import { findRunRepair } from './repairs/repair-repository';
import { startCalledRun } from './runs/called-run';
import { createPriceCalculator } from './runs/compute-price';
import { enqueueRefusedRequest } from './runs/enqueue-refused-request';
import { prepareVersion, serveStandbyVersions } from './runs/prepare-version';
import { createRunProvisioner } from './runs/provision-run';
import { createRunnables } from './runs/runnable';
import { createMasking } from './secrets/masking';
import { sealedColumns } from './secrets/sealed-columns';
import { startCronTicker } from './starters/cron/cron-ticker';
import { createExecutorTracker } from './system/executors';
import { version } from './system/version';
import { findConversationOfRun } from './worker-conversations/worker-conversation-repository';
import { createManifestParser } from './workers/manifests';

export interface WorkerApiOptions extends SurfaceSettings, Pick<AppOptions, 'setupToken' | 'jwt' | 'oidc'> {
  databaseUrl: string;
  pool?: PoolSettings;
  nats: NatsConnectionSettings;
  /** Copies of each message in a cluster of NATS servers. */
  streamReplicas?: number;
  encryptionKeys: KeyRing;
  tokenPeppers: KeyRing;
  objectStore: Omit<ObjectStoreSettings, 'publicUrl'>;
  /** Addresses at which tools of `/mcp` call the three surfaces. */
  surfaceUrls: SurfaceUrls;
  smtp: { url: string | undefined; from: string };
  /** Private networks that alert webhooks may reach. */
  outboundAllow: string[];
  /** OAuth clients that the operator configured. */
  oauthApps: OauthApps;
  /** Models that the operator offers. */
  models: ModelSettings;
  /** For tests: replaces the MCP client. */
  mcpClient?: Pick<McpClient, 'listTools' | 'callTool'>;
  auditRetentionDays: number;
  retention: RetentionBounds;
  /** Price of CPU time; 0 means free. */
  computeUsdPerCpuHour: number;
  /** For tests: the clock of schedules and expiries. */
  now?: () => Date;
  /** For tests: false leaves the timed loops to be ticked explicitly. */
  autoTick?: boolean;
}

export type WorkerApi = Awaited<ReturnType<typeof startWorkerApi>>;

export async function startWorkerApi(options: WorkerApiOptions) {
  const { log, baseUrl, dashboardUrl, traceUrlTemplate, retention } = options;
  const objects = openObjectStore({ ...options.objectStore, publicUrl: baseUrl });
  const database = openDatabase(options.databaseUrl, log, options.pool);
  const { pool, prisma } = database;
  const bus = await connectBus({ ...options.nats, name: 'worker-api', log });
  const streams = await ensureStreams({ bus, log, replicas: options.streamReplicas ?? 1 });
  const ownStreams = [EVENTS_STREAM, getRunEventsStreamName('worker')];
  const relay = startRelay({ pool, bus, service: 'worker-api', log });
  const changes = await createChangeHub({ bus, log });
  const changeHints = startChangeHintPublisher({ pool, bus, service: 'worker-api' });
  const hasher = createTokenHasher(options.tokenPeppers);
  const vault = createVault({ keys: options.encryptionKeys, pool });
  const secrets = createSecretStore({ pool, vault });
  const masking = createMasking();
  const manifests = createManifestParser();
  const outcomeJudge = createOutcomeJudge(log);
  const keyRotation = createKeyRotation({ pool, vault, columns: sealedColumns, log });
  const mailer = createMailer({ smtpUrl: options.smtp.url, from: options.smtp.from, log });
  const tokenUse = createLastUseTracker({ pool, table: 'tokens', log });
  // A run may be suspended before all dependencies exist.
  let resolveDeps: (deps: AppDeps) => void = () => {};
  const depsReady = new Promise<AppDeps>((resolve) => {
    resolveDeps = resolve;
  });
  const now = options.now ?? (() => new Date());
  const loopOptions = { auto: options.autoTick ?? true };
  const closures = await watchWorkspaceClosures({ pool, bus, log });
  const { outboundAllow, oauthApps, surfaceUrls } = options;
  const models = createWorkspaceModels({ prisma, vault, outboundAllow, log }, options.models);
  const engine = await startRunEngine({
    source: 'worker',
    pool,
    bus,
    objects,
    relay,
    closures,
    tokenKeys: deriveKeys(options.encryptionKeys, 'run tokens'),
    givenTo: createRunProvisioner(depsReady),
    tools: {
      of: async (run) => {
        const tools = run.spec.connections ? depsReady.then((deps) => listRunTools(deps, run)) : [];
        return (await Promise.all([tools, listRunModels(models, run)])).flat();
      },
      prepare: async (run, request) => {
        const prepare = request.connection === MODELS_CONNECTION ? prepareModel : prepareTool;
        return prepare(await depsReady, run, request);
      },
    },
    onSuspended: async (tx, run, suspension) => {
      const deps = await depsReady;
      return suspension.kind === 'approve'
        ? suspendForApproval(deps, tx, run, suspension)
        : startCalledRun(deps, tx, run, suspension);
    },
    onRefused: enqueueRefusedRequest,
    reannounce: async ({ workspaceId, codeId: uid }) => (await depsReady).prepareVersion({ workspaceId, uid }),
    computeCostUsd: createPriceCalculator(options.computeUsdPerCpuHour),
    log,
  });
  const runnables = createRunnables();
  const rates = createRateCounter({ pool, log });
  const mcpClient = createCachingClient(
    options.mcpClient ?? createLazyMcpClient({ allow: outboundAllow, version, masking }),
    {
      sql: pool,
      masking,
      now,
    },
  );
  for (const problem of listUnusedApps(oauthApps)) log.warn({ problem }, 'OAUTH_APPS');
  const deliveryLoop = startDeliveryLoop(
    { prisma, pool, hasher, vault, mailer, outboundAllow, dashboardUrl, now, log },
    loopOptions,
  );
  const evaluationLoop = startEvaluationLoop({ pool, log }, depsReady, loopOptions);
  const { checks, unobserve } = observeService({ service: 'worker-api', pool, bus, streams: ownStreams, objects }, log);
  const deps: AppDeps = {
    prisma,
    pool,
    bus,
    closures,
    engine,
    objects,
    vault,
    secrets,
    keyRotation,
    masking,
    manifests,
    outcomeJudge,
    runnables,
    rates,
    hasher,
    mailer,
    retention,
    findRepairOfRun: findRunRepair,
    findConversationOfRun,
    listProvidersWithKey,
    prepareVersion: (worker) => prepareVersion({ bus, objects, runnables }, pool, worker),
    candidateDecisions: createCandidateDecisions({ pool, now }),
    deliveryLoop,
    evaluationLoop,
    outboundAllow,
    oauthApps,
    models,
    mcpClient,
    surfaceUrls,
    baseUrl,
    dashboardUrl,
    traceUrlTemplate,
    now,
    log,
  };
  resolveDeps(deps);
  const executors = createExecutorTracker({ bus, log, now });
  const workerApp = createApp({
    ...options,
    deps,
    health: checks,
    executors,
    changes,
    tokenUse,
    ...(objects.driver === 'file' && { fileStore: objects }),
  });
  const eviction = subscribeEvictions(workerApp.identities, { bus, log });
  const responders = [
    serveIntrospection({ bus, introspect: workerApp.introspect, log }),
    serveMembers({ bus, pool, log }),
    serveStandbyVersions(deps),
  ];
  const approvals = startApprovalSweeper(deps, loopOptions);
  const repairLoop = startRepairLoop(deps, loopOptions);
  const consumers = startEventHandlers(deps, [repairLoop, evaluationLoop]);
  const connectionLoop = startConnectionLoop(deps, loopOptions);
  const cronTicker = startCronTicker(deps, loopOptions);
  const { signingKeys } = workerApp;
  const { auditRetentionDays } = options;
  const housekeeping = startSweeps(listSweeps(deps, { signingKeys, auditRetentionDays }), log);
  return {
    ...workerApp,
    deps,
    cronTicker,
    connectionLoop,
    repairLoop,
    database,
    health: checks,
    /** Turns readiness to 503 and hands back running work; requests are still answered. */
    drain: async () => {
      checks.drain();
      for (const responder of responders) responder.stop();
      housekeeping.stop();
      deliveryLoop.drain();
      changes.close();
      await workerApp.drainChat();
      await approvals.stop();
      await repairLoop.stop();
      await connectionLoop.stop();
      await cronTicker.stop();
      // The loop waits for checks, which may take seconds: they end with their thread, and another replica repeats
      // them.
      await Promise.all([evaluationLoop.stop(), outcomeJudge.stop()]);
      await engine.drain();
    },
    /** Closes everything, after the last response. */
    close: async () => {
      eviction.stop();
      executors.stop();
      for (const consumer of consumers) await consumer.stop();
      await closures.stop();
      await engine.stop();
      await deliveryLoop.stop();
      await masking.stop();
      await manifests.stop();
      mailer.close();
      await tokenUse.flush();
      await relay.stop();
      streams.stop();
      unobserve();
      changeHints.stop();
      await bus.nc.drain();
      await database.close();
    },
  };
}
