import { type Bus, connectBus } from '@gantry/events';
import { catchLogs, given, startTestNats, type TestNats } from '@gantry/testing';
import { type Executor, type ExecutorOptions, startExecutor } from '../executor';
import { findInterpreter } from '../runners/python/interpreter';
import { type FakeService, fakeService } from './fake-service';
import { temporaryLayout, testOwner } from './sandbox-fixture';

export interface ExecutorFixture {
  nats: TestNats;
  service: FakeService;
  /** The service's connection. */
  bus: Bus;
  executor: Executor;
  logs: ReturnType<typeof catchLogs>;
  stop(): Promise<void>;
}

/**
 * Starts a NATS server, a service and an executor in this process, with the NATS users and permissions of production.
 */
export async function startTestExecutor(
  overrides: Partial<ExecutorOptions> = {},
  before: (service: FakeService) => Promise<void> = async () => {},
): Promise<ExecutorFixture> {
  const nats = await startTestNats();
  const logs = catchLogs();
  const [source = 'automation'] = overrides.sources ?? [];
  const bus = await connectBus({ ...nats.as(`${source}-api`), name: 'service', log: logs.log });
  const service = await fakeService(bus, nats, source);
  await before(service);
  const own = await connectBus({ ...nats.newExecutor(), name: 'executor', log: logs.log });
  const executor = await startExecutor({
    bus: own,
    log: logs.log,
    layout: temporaryLayout(),
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
    ...{ nats, service, bus, executor, logs },
    async stop() {
      await executor.stop(0);
      await own.nc.close();
      await bus.nc.close();
      await service.stop();
      await nats.stop();
    },
  };
}

/** Starts it before the tests of this file or `describe`, and stops it after them. */
export const testExecutor = (...options: Parameters<typeof startTestExecutor>): ExecutorFixture =>
  given(
    () => startTestExecutor(...options),
    (fixture) => fixture.stop(),
  );
