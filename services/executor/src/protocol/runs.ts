/** Manages the runs of this executor, each from its job until it is removed. */
import type { Job } from '@gantry/events';
import type { Logger } from 'pino';
import type { Runner } from '../runners/runner';
import type { EventPublisher } from './event-publisher';
import { type ExecuteJobDeps, executeJob } from './execute-job';
import type { Leases } from './leases';

const GIVE_UP_MS_MAX = 5_000;
const GONE_MS_MAX = 2_000;
/** Minimum time for reports, even if the drain time is nearly over. */
const REPORT_MS_MIN = 10_000;

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(
  deps: Omit<ExecuteJobDeps, 'canStart'> & {
    /** By name. */
    runners: ReadonlyMap<string, Runner>;
    leases: Leases;
    publisher: Pick<EventPublisher, 'open' | 'settle'>;
    isConnected(): boolean;
    log: Logger;
  },
) {
  const { runners, leases, publisher, log } = deps;
  const exiting = new Set<Promise<void>>();
  const runDeps: ExecuteJobDeps = { ...deps, canStart: (job) => deps.isConnected() && leases.isCurrent(job) };

  function returnToQueue(job: Job) {
    const events = publisher.open(job);
    const usage = { wallMs: 0, cpuMs: 0, maxRssBytes: 0, costUsd: 0 };
    events.push({ type: 'finished', status: 'returned', usage });
    events.flush();
  }

  return {
    /** Returns a job to the queue that was not started here. */
    handBack: returnToQueue,
    /** @param release called once, when another run may take this one's slot */
    start(job: Job, release: () => void) {
      const runner = runners.get(job.runner);
      if (!runner) {
        log.error({ runId: job.runId, runner: job.runner }, 'returned a job for an unclaimed runner to the queue');
        returnToQueue(job);
        return release();
      }
      const run = executeJob(job, runner, runDeps, release);
      leases.add(run);
      void run.settled.finally(() => leases.remove(run));
      exiting.add(run.gone);
      void run.gone.finally(() => exiting.delete(run.gone));
    },
    /** Returns runs that have not started, waits for the others up to `drainMs` and ends the rest. */
    async stopAll(drainMs: number) {
      for (const run of leases.all()) run.returnToQueue();
      const deadline = Date.now() + drainMs;
      await waitForSettled(
        leases.all().map((run) => run.settled),
        drainMs,
      );
      const late = leases.all();
      for (const run of late) run.giveUp('The executor was stopped before the run finished.');
      await waitForSettled(
        late.map((run) => run.settled),
        GIVE_UP_MS_MAX,
      );
      const unsent = await publisher.settle(Math.max(REPORT_MS_MIN, deadline - Date.now()));
      if (unsent) log.error({ batches: unsent }, 'run events could not be delivered before shutdown');
      await waitForSettled([...exiting], GONE_MS_MAX);
    },
  };
}

async function waitForSettled(work: Promise<unknown>[], timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    Promise.allSettled(work),
    new Promise((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    }),
  ]);
  clearTimeout(timer);
}
