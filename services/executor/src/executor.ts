/** Composes the executor: claims jobs, runs them, reports, and shuts down in order. */
import { type Bus, type ExecutorStatus, generateBoxKeys, type RunSource, watchConnection } from '@gantry/events';
import { createRedactorCache } from '@gantry/masking';
import type { Logger } from 'pino';
import { createMetrics } from './host/metrics';
import { type MachineOptions, startMachine } from './machine';
import { createClaimLoop } from './protocol/claim-loop';
import { createEventPublisher } from './protocol/event-publisher';
import { serveInspections } from './protocol/inspections';
import { createLeases } from './protocol/leases';
import { listenForPreparations } from './protocol/preparations';
import { createRuns } from './protocol/runs';
import { listenForCancellations, listenForModelText } from './protocol/service-messages';
import { createServiceRequests } from './protocol/service-requests';
import { openSpool } from './protocol/spool';
import { startStatusPublisher } from './protocol/status-announcer';

export interface ExecutorOptions extends MachineOptions {
  bus: Bus;
  log: Logger;
  sources: RunSource[];
}

export type Executor = Awaited<ReturnType<typeof startExecutor>>;

export async function startExecutor(options: ExecutorOptions) {
  const { bus, log, slots, isolation, sources } = options;
  const id = bus.user;
  const python = options.interpreter.version;
  const startedAt = Date.now();
  const metrics = createMetrics({
    slots,
    busy: () => claims.busy(),
    ready: () => machine.ready(),
    warm: () => machine.warm(),
    restarts: () => machine.zygoteRestarts(),
    storeBytes: () => machine.storeBytes(),
    unstoredBatches: () => publisher.unacknowledged(),
    spoolBytes: () => spool.bytes(),
  });
  const machine = await startMachine(options, {
    log,
    onEgressDenied: (reason) => metrics.egressDenied.inc({ reason }),
  });
  const connection = watchConnection(bus.nc);
  const spool = openSpool({ directory: options.layout.spoolDir, log });
  const publisher = createEventPublisher({ bus, executorId: id, spool, log });
  const leases = createLeases({ bus, executorId: id, publisher, log });
  const { runners } = machine;
  const runs = createRuns({
    runners,
    leases,
    publisher,
    metrics,
    log,
    redactorFor: createRedactorCache(),
    ...createServiceRequests(bus, id),
    isConnected: connection.isUp,
  });
  const claims = createClaimLoop({
    bus,
    slots,
    sources,
    log,
    executorId: id,
    runners: [...runners.keys()],
    keys: generateBoxKeys(),
    startJob: runs.start,
    returnJob: runs.handBack,
    canClaim: () => connection.isUp() && publisher.healthy(),
    isReporting: () => publisher.unacknowledged() > 0,
    onChange: () => status.soon(),
  });

  let draining = false;
  const getStatus = (): ExecutorStatus => {
    const busy = Math.min(slots, claims.busy());
    return { state: draining ? 'draining' : 'ready', slots, busy, isolation, python, startedAt };
  };
  const status = startStatusPublisher(bus, id, getStatus);
  const listenerDeps = { bus, executorId: id, leases, log };
  const [cancellations, messages] = [listenForCancellations(listenerDeps), listenForModelText(listenerDeps)];
  // Inspection requests name no runner: services know Python only.
  const inspections = serveInspections({ bus, runner: machine.python, log });
  const preparations = listenForPreparations({ bus, executorId: id, runner: machine.python, sources, log });
  claims.start();
  status.now();
  log.info({ executorId: id, slots, isolation, python, cgroups: machine.cgroupVersion }, 'executor is ready');

  async function drain(drainMs: number) {
    draining = true;
    status.now();
    inspections.unsubscribe();
    preparations.stop();
    await claims.stop();
    await runs.stopAll(drainMs);
    cancellations.unsubscribe();
    messages.unsubscribe();
    status.stop();
    leases.stop();
    publisher.stop();
    connection.stop();
    await machine.stop();
  }

  let stopping: Promise<void> | undefined;
  const stop = (drainMs: number) => {
    stopping ??= drain(drainMs);
    return stopping;
  };
  return {
    id,
    metrics,
    healthy: (): boolean => connection.isUp() && !draining,
    /** Lets runs finish for up to `drainMs`, hands back those that have not started, and ends. */
    stop,
  };
}
