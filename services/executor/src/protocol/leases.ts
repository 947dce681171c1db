/**
 * Renews the leases of active runs, and learns which runs must stop.
 *
 * A run whose lease could not be renewed continues: its result is reported when NATS is back, and the service decides.
 * But nothing is started on a lease that may have expired. A run that has ended here keeps its lease until the service
 * has the ending, so that no other executor starts it meanwhile.
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
import type { Attempt } from './attempt';
import type { EventPublisher } from './event-publisher';
import type { ActiveRun } from './execute-job';

export type Leases = ReturnType<typeof createLeases>;

/** Maximum number of runs in one renewal. */
const RENEWED_MAX = 1_000;

export function createLeases(options: {
  bus: Bus;
  executorId: string;
  publisher: Pick<EventPublisher, 'unconfirmed' | 'confirm' | 'remind'>;
  log: Logger;
}) {
  const { bus, executorId, publisher, log } = options;
  const held = new Map<string, { run: ActiveRun; validSince: number }>();

  async function renew(source: RunSource) {
    const active = [...held.values()].filter(({ run }) => run.job.source === source);
    const ended = publisher
      .unconfirmed()
      .filter((attempt) => attempt.source === source && !confirmIfReacquired(attempt));
    const attempts: Attempt[] = [...active.map(({ run }) => run.job), ...ended];
    for (let start = 0; start < attempts.length; start += RENEWED_MAX) {
      await renewBatch(source, attempts.slice(start, start + RENEWED_MAX));
    }
  }

  /** The service has handed the run out again, so it has the ending of the previous attempt. */
  function confirmIfReacquired(attempt: Attempt): boolean {
    const again = held.has(attempt.runId);
    if (again) publisher.confirm(attempt);
    return again;
  }

  async function renewBatch(source: RunSource, attempts: Attempt[]) {
    const runs = attempts.map(({ runId, attempt, token }) => ({ runId, attempt, token }));
    const requestedAt = Date.now();
    try {
      const renewal: LeaseRenewal = { runs };
      const reply = await bus.request(runSubjects.lease(source, executorId), encode(renewal), LEASE_RENEW_MS);
      const { cancelled, lost } = decode(leaseReply, reply.data);
      const [gone, unwanted] = [new Set(lost), new Set(cancelled)];
      for (const attempt of attempts)
        settle(attempt, { gone: gone.has(attempt.runId), unwanted: unwanted.has(attempt.runId), requestedAt });
    } catch (err) {
      log.warn({ err, source, runs: runs.length }, 'could not renew leases');
    }
  }

  function settle(
    attempt: Attempt,
    { gone, unwanted, requestedAt }: { gone: boolean; unwanted: boolean; requestedAt: number },
  ) {
    const entry = held.get(attempt.runId);
    if (entry?.run.job.attempt === attempt.attempt) {
      if (gone) entry.run.lose();
      else if (unwanted) entry.run.cancel();
      else entry.validSince = requestedAt;
    } else if (gone) publisher.confirm(attempt);
    else publisher.remind(attempt);
  }

  const timer = setInterval(() => {
    const sources = [...[...held.values()].map(({ run }) => run.job), ...publisher.unconfirmed()].map(
      ({ source }) => source,
    );
    for (const source of new Set(sources)) void renew(source);
  }, LEASE_RENEW_MS);

  return {
    add: (run: ActiveRun) => void held.set(run.job.runId, { run, validSince: Date.now() }),
    remove: (run: ActiveRun) => {
      if (held.get(run.job.runId)?.run === run) held.delete(run.job.runId);
    },
    find: (runId: string): ActiveRun | undefined => held.get(runId)?.run,
    all: (): ActiveRun[] => [...held.values()].map(({ run }) => run),
    /** Returns whether a job's lease, fresh or renewed, is certainly still valid. */
    isCurrent: (job: Job): boolean => Date.now() - (held.get(job.runId)?.validSince ?? Date.now()) < LEASE_MS,
    stop: () => clearInterval(timer),
  };
}
