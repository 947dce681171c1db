/** Manages the runs of this executor, each from its job until it is removed. */
import type { Job } from '@gantry/events';
import type { Logger } from 'pino';
import type { Runner } from '../runners/runner';
import type { EventPublisher } from './event-publisher';
import type { Leases } from './leases';
import { executeJob, type RunJobDeps } from './run-job';

const GIVE_UP_MS_MAX = 5_000;
const GONE_MS_MAX = 2_000;
/** Minimum time for reports, even if the drain time is nearly over. */
const REPORT_MS_MIN = 10_000;

export type Runs = ReturnType<typeof createRuns>;

export function createRuns(
  deps: Omit<RunJobDeps, 'mayStart'> & {
    /** By name. */
    runners: ReadonlyMap<string, Runner>;
    leases: Leases;
    publisher: Pick<EventPublisher, 'open' | 'settle'>;
    isConnected(): boolean;
    log: Logger;
  },
) {
  const { runners, leases, publisher, log } = deps;
  const leaving = new Set<Promise<void>>();
  const runDeps: RunJobDeps = { ...deps, mayStart: (job) => deps.isConnected() && leases.isCurrent(job) };

  function handBack(job: Job) {
    const events = publisher.open(job);
    const usage = { wallMs: 0, cpuMs: 0, maxRssBytes: 0, costUsd: 0 };
    events.push({ type: 'finished', status: 'returned', usage });
    events.flush();
  }

  return {
    /** Returns a job to the queue that was not started here. */
    handBack,
    /** @param release called once, when another run may take this one's slot */
    start(job: Job, release: () => void) {
      const runner = runners.get(job.runner);
      if (!runner) {
        log.error({ runId: job.runId, runner: job.runner }, 'job for an unclaimed runner: returned to the queue');
        handBack(job);
        return release();
      }
      const run = executeJob(job, runner, runDeps, release);
      leases.add(run);
      void run.settled.finally(() => leases.remove(run));
      leaving.add(run.gone);
      void run.gone.finally(() => leaving.delete(run.gone));
    },
    /** Returns runs that have not started, waits for the others up to `drainMs` and ends the rest. */
    async endAll(drainMs: number) {
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
        GIVE_UP_MS_MAX,
      );
      const unsent = await publisher.settle(Math.max(REPORT_MS_MIN, deadline - Date.now()));
      if (unsent) log.error({ batches: unsent }, 'run events could not be delivered before the end');
      await settledBefore([...leaving], GONE_MS_MAX);
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
