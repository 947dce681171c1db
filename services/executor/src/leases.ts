/**
 * Telling services which runs are still being worked on, and hearing which should not be.
 *
 * A run whose lease could not be renewed goes on: its result is reported when NATS is back, and the service decides. But
 * nothing is started on a lease that may have run out.
 */
import {
  type Bus,
  decode,
  encode,
  type Job,
  LEASE_MS,
  LEASE_RENEW_MS,
  type LeaseRenewal,
  leaseReply,
  type RunSource,
  runSubjects,
} from '@gantry/events';
import type { Logger } from 'pino';
import type { ActiveRun } from './run-job';

export interface Leases {
  add(run: ActiveRun): void;
  remove(run: ActiveRun): void;
  find(runId: string): ActiveRun | undefined;
  all(): ActiveRun[];
  /** Whether the lease of a job, fresh or renewed, is surely still good. */
  isCurrent(job: Job): boolean;
  stop(): void;
}

export function createLeases({ bus, executorId, log }: { bus: Bus; executorId: string; log: Logger }): Leases {
  const held = new Map<string, { run: ActiveRun; goodSince: number }>();

  async function renew(source: RunSource) {
    const entries = [...held.values()].filter(({ run }) => run.job.source === source);
    if (entries.length === 0) return;
    const runs = entries.map(({ run }) => ({ runId: run.job.runId, attempt: run.job.attempt }));
    const asked = Date.now();
    try {
      const renewal: LeaseRenewal = { executorId, runs };
      const reply = await bus.nc.request(runSubjects.lease(source), encode(renewal), { timeout: LEASE_RENEW_MS });
      const { cancelled, lost } = decode(leaseReply, reply.data);
      for (const entry of entries) {
        if (lost.includes(entry.run.job.runId)) entry.run.lose();
        else if (cancelled.includes(entry.run.job.runId)) entry.run.cancel();
        else entry.goodSince = asked;
      }
    } catch (err) {
      log.warn({ err, source, runs: runs.length }, 'leases not renewed');
    }
  }

  const timer = setInterval(() => {
    for (const source of new Set([...held.values()].map(({ run }) => run.job.source))) void renew(source);
  }, LEASE_RENEW_MS);

  return {
    add: (run) => void held.set(run.job.runId, { run, goodSince: Date.now() }),
    remove: (run) => {
      if (held.get(run.job.runId)?.run === run) held.delete(run.job.runId);
    },
    find: (runId) => held.get(runId)?.run,
    all: () => [...held.values()].map(({ run }) => run),
    isCurrent: (job) => Date.now() - (held.get(job.runId)?.goodSince ?? Date.now()) < LEASE_MS,
    stop: () => clearInterval(timer),
  };
}
