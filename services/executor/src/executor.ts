/** Puts the executor together: asks for jobs, runs them, reports, and ends in good order. */
import { timingSafeEqual } from 'node:crypto';
import {
  artifactReply,
  type Bus,
  type ExecutorStatus,
  encode,
  generateBoxKeys,
  type Job,
  listen,
  PYTHON,
  type RunSource,
  request,
  runCancel,
  runSubjects,
  stepReply,
} from '@gantry/events';
import { createAddressPolicy } from '@gantry/safe-fetch';
import type { Logger } from 'pino';
import { createDependencies } from './dependencies/dependencies';
import type { PackageIndex } from './dependencies/package-index';
import { startEgressProxy } from './egress/proxy';
import { createMetrics } from './host/metrics';
import { createClaimLoop } from './protocol/claim-loop';
import { createEventPublisher } from './protocol/event-publisher';
import { createLeases } from './protocol/leases';
import { createRedactorCache } from './protocol/masking/redactor-cache';
import { type RunJobDeps, startRun } from './protocol/run-job';
import { openSpool } from './protocol/spool';
import { serveInspections } from './runners/python/inspect';
import type { Interpreter } from './runners/python/interpreter';
import { openCgroups } from './sandbox/cgroup';
import { type Layout, removeOwn } from './sandbox/layout';
import { type Isolation, startSandbox } from './sandbox/sandbox';
import type { SandboxSettings } from './sandbox/settings';
import { toolRunner } from './sandbox/tool-run';
import { createCodeStore } from './store/code-store';
import { createContextStore } from './store/context-store';
import { openDirectoryStore } from './store/directory-store';

export interface ExecutorOptions {
  bus: Bus;
  log: Logger;
  layout: Layout;
  interpreter: Interpreter;
  bwrap: string;
  runAs: SandboxSettings['runAs'];
  slots: number;
  sources: RunSource[];
  isolation: Isolation;
  storeBytesMax: number;
  egressAllowPrivate: string[];
  packageIndex: PackageIndex;
  recycle?: { forks: number; ms: number };
}

export interface Executor {
  id: string;
  metrics: ReturnType<typeof createMetrics>;
  healthy(): boolean;
  /** Finishes what runs for up to `drainMs`, hands back what has not started, and ends. */
  stop(drainMs: number): Promise<void>;
}

const STATUS_MS = 5_000;
/** Changes within this time are told once. */
const STATUS_COALESCE_MS = 500;
const ARTIFACT_REPLY_MS = 5_000;
const STEP_REPLY_MS = 5_000;
const SETTLE_MS = 10_000;
const RECYCLE = { forks: 5_000, ms: 30 * 60_000 };

export async function startExecutor(options: ExecutorOptions): Promise<Executor> {
  const { bus, log, layout, interpreter, slots, isolation } = options;
  const id = bus.user;
  const keys = generateBoxKeys();
  const startedAt = Date.now();
  const recycle = options.recycle ?? RECYCLE;
  // Where packages lie on this machine is the operator's business and not part of what runs may see.
  const settings: SandboxSettings = {
    ...layout,
    bwrap: options.bwrap,
    python: interpreter.executable,
    readOnlyPaths: ['/usr', ...interpreter.prefixes],
    storeDir: '',
    slots,
    cgroups: openCgroups(),
    runAs: options.runAs,
    recycleForks: recycle.forks,
    recycleMs: recycle.ms,
  };
  const store = openDirectoryStore(layout.storeDir, options.storeBytesMax);
  settings.storeDir = store.directory;
  const runTool = toolRunner(settings);
  const sandbox = await startSandbox(settings, isolation);
  let connected = true;
  const connection = watchConnection(bus, (up) => {
    connected = up;
  });
  let draining = false;

  const metrics = createMetrics({
    slots,
    busy: () => claims.busy(),
    ready: sandbox.ready,
    restarts: sandbox.restarts,
    storeBytes: store.bytes,
    unstoredBatches: () => publisher.unacknowledged(),
    spoolBytes: () => spool.bytes(),
  });
  const egress = await startEgressProxy({
    directory: layout.egressDir,
    policy: createAddressPolicy(options.egressAllowPrivate),
    log,
    onDenied: (reason) => metrics.egressDenied.inc({ reason }),
  });
  const code = createCodeStore({ store, runTool });
  const contexts = createContextStore({ store });
  const dependencies = createDependencies({
    ...{ store, runTool, egress, index: options.packageIndex },
    pythonVersion: interpreter.version,
    pipPath: interpreter.pipPath,
  });
  const spool = openSpool({ directory: layout.spoolDir, log });
  const publisher = createEventPublisher({ bus, executorId: id, spool, log });
  const leases = createLeases({ bus, executorId: id, publisher, log });
  const deps: RunJobDeps = {
    ...{ sandbox, code, contexts, dependencies, egress, publisher, isolation, metrics, log },
    redactorFor: createRedactorCache(),
    uploads: {
      place: ({ runId, attempt, token, source }, wanted) =>
        request(
          bus,
          runSubjects.artifact(source, id),
          { runId, attempt, token, ...wanted },
          artifactReply,
          ARTIFACT_REPLY_MS,
        ),
    },
    steps: {
      record: ({ runId, attempt, token, source }, step) =>
        request(bus, runSubjects.step(source, id), { runId, attempt, token, ...step }, stepReply, STEP_REPLY_MS),
    },
    mayStart: (job) => connected && leases.isCurrent(job),
  };
  const leaving = new Set<Promise<void>>();

  function startJob(job: Job, release: () => void) {
    const run = startRun(job, deps, release);
    leases.add(run);
    void run.settled.finally(() => leases.remove(run));
    leaving.add(run.gone);
    void run.gone.finally(() => leaving.delete(run.gone));
  }

  function returnJob(job: Job) {
    const events = publisher.open(job);
    const usage = { wallMs: 0, cpuMs: 0, maxRssBytes: 0, costUsd: 0 };
    events.push({ type: 'finished', status: 'returned', usage });
    events.flush();
  }

  const claims = createClaimLoop({
    ...{ bus, slots, log, startJob, returnJob },
    sources: options.sources,
    executorId: id,
    runners: [PYTHON],
    keys,
    mayClaim: () => connected && publisher.healthy(),
    onChange: () => announceSoon(),
  });

  let announcing: NodeJS.Timeout | undefined;
  function announce(state: ExecutorStatus['state']) {
    clearTimeout(announcing);
    announcing = undefined;
    const status: ExecutorStatus = {
      ...{ state, slots, isolation, startedAt },
      busy: Math.min(slots, claims.busy()),
      python: interpreter.version,
    };
    bus.nc.publish(runSubjects.executorStatus(id), encode(status));
  }
  const current = () => announce(draining ? 'draining' : 'ready');
  function announceSoon() {
    announcing ??= setTimeout(current, STATUS_COALESCE_MS);
  }
  const statusTimer = setInterval(current, STATUS_MS);

  const cancels = listen(
    bus,
    runSubjects.cancel(id, '*'),
    runCancel,
    ({ token }, { subject }) => {
      const run = leases.find(subject.slice(subject.lastIndexOf('.') + 1));
      if (run && isSame(run.job.token, token)) run.cancel();
    },
    { log },
  );
  const inspections = serveInspections({ bus, code, sandbox, isolation, log });
  claims.start();
  current();
  log.info(
    { executorId: id, slots, isolation, python: interpreter.version, cgroups: settings.cgroups?.version ?? null },
    'executor is ready',
  );

  async function drain(drainMs: number) {
    draining = true;
    current();
    inspections.unsubscribe();
    await claims.stop();
    for (const run of leases.all()) run.handBack();
    const deadline = Date.now() + drainMs;
    await settledBefore(
      leases.all().map((run) => run.settled),
      drainMs,
    );
    const late = leases.all();
    for (const run of late) run.giveUp('The executor was stopped before the run had ended.');
    await settledBefore(
      late.map((run) => run.settled),
      5_000,
    );
    const unsent = await publisher.settle(Math.max(SETTLE_MS, deadline - Date.now()));
    if (unsent) log.error({ batches: unsent }, 'run events could not be delivered before the end');
    await settledBefore([...leaving], 2_000);
    clearInterval(statusTimer);
    cancels.unsubscribe();
    announce('stopped');
    leases.stop();
    publisher.stop();
    connection.stop();
    await egress.stop();
    await sandbox.stop();
    removeOwn(layout);
  }

  let stopping: Promise<void> | undefined;
  const stop = (drainMs: number) => {
    stopping ??= drain(drainMs);
    return stopping;
  };
  return { id, metrics, healthy: () => connected && !draining, stop };
}

function isSame(token: string, given: string): boolean {
  const [a, b] = [Buffer.from(token), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function watchConnection(bus: Bus, onChange: (up: boolean) => void): { stop(): void } {
  let watching = true;
  void (async () => {
    for await (const { type } of bus.nc.status()) {
      if (!watching) return;
      if (type === 'disconnect') onChange(false);
      if (type === 'reconnect') onChange(true);
    }
  })();
  return {
    stop: () => {
      watching = false;
    },
  };
}

async function settledBefore(work: Promise<unknown>[], timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.allSettled(work),
    new Promise((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    }),
  ]);
  clearTimeout(timer);
}
