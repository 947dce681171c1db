import { connectBus, type RunSource } from '@gantry/events';
import { pino } from 'pino';
import { createFakeExecutor, type FakeExecutor, type FakeJob } from './fake-executor';
import { serveInspections } from './fake-inspector';
import type { TestNats } from './test-nats';

export interface FakeExecutors {
  /** An executor that the test drives itself: claim, report, complete. */
  connectExecutor(): Promise<FakeExecutor>;
  /** An executor that completes every run with what `work` returns, until it is stopped or the result is called. */
  serveRuns(work: (job: FakeJob) => unknown, slots?: number): Promise<() => Promise<void>>;
}

/** Connects executors to a service in tests. @param cleanups gets what disconnects them; the last is called first */
export async function createFakeExecutors(
  nats: TestNats,
  source: RunSource,
  { inspector = true, cleanups }: { inspector?: boolean | undefined; cleanups: (() => Promise<unknown>)[] },
): Promise<FakeExecutors> {
  async function connect() {
    const bus = await connectBus({ ...nats.newExecutor(), name: 'executor', log: pino({ level: 'silent' }) });
    cleanups.push(() => bus.nc.close());
    return bus;
  }
  if (inspector) serveInspections(await connect());
  return {
    connectExecutor: async () => createFakeExecutor(await connect(), source),
    serveRuns: async (work, slots = 4) => {
      const stop = createFakeExecutor(await connect(), source).serve(slots, work);
      cleanups.push(stop);
      return stop;
    },
  };
}
