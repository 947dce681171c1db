import { connectBus } from '@gantry/events';
import { captureLogs, setupResource, startTestNats } from '@gantry/testing';
import { type ExecutorOptions, startExecutor } from '../executor';
import { findInterpreter } from '../runners/python/interpreter';
import { type FakeService, startFakeService } from './fake-service';
import { createTemporaryLayout, testOwner } from './sandbox-fixture';

export type ExecutorFixture = Awaited<ReturnType<typeof startTestExecutor>>;

/**
 * Starts a NATS server, a service and an executor in this process, with the NATS users and permissions of production.
 */
export async function startTestExecutor(
  overrides: Partial<ExecutorOptions> = {},
  before: (service: FakeService) => Promise<void> = async () => {},
) {
  const nats = await startTestNats();
  const logs = captureLogs();
  const [source = 'automation'] = overrides.sources ?? [];
  const bus = await connectBus({ ...nats.as(`${source}-api`), name: 'service', log: logs.log });
  const service = await startFakeService(bus, nats, source);
  await before(service);
  const executorBus = await connectBus({ ...nats.newExecutor(), name: 'executor', log: logs.log });
  const executor = await startExecutor({
    bus: executorBus,
    log: logs.log,
    layout: createTemporaryLayout(),
    interpreter: findInterpreter(),
    bwrap: 'bwrap',
    uv: null,
    runAs: testOwner,
    slots: 2,
    sources: [source],
    isolation: 'zygote',
    storeBytesMax: 1 << 30,
    warmBytes: 256 << 20,
    egressAllowPrivate: [],
    packageIndex: { indexUrl: null, extraIndexUrls: [], findLinks: [], fileHosts: [] },
    ...overrides,
  });
  return {
    nats,
    service,
    /** The service's connection. */
    bus,
    executor,
    logs,
    async stop() {
      await executor.stop(0);
      await executorBus.nc.close();
      await bus.nc.close();
      await service.stop();
      await nats.stop();
    },
  };
}

/** Starts it before the tests of this file or `describe`, and stops it after them. */
export const setupTestExecutor = (...options: Parameters<typeof startTestExecutor>): ExecutorFixture =>
  setupResource(
    () => startTestExecutor(...options),
    (fixture) => fixture.stop(),
  );
