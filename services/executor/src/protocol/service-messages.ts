import { timingSafeEqual } from 'node:crypto';
import { type Bus, cancelRequest, listen, runSubjects, toolTextChunk } from '@gantry/events';
import type { Subscription } from 'nats';
import type { Logger } from 'pino';
import type { Leases } from './leases';

interface Deps {
  bus: Bus;
  executorId: string;
  leases: Pick<Leases, 'find'>;
  log: Logger;
}

/** Stops runs on their service's request; the run's token authenticates the request. */
export const listenForCancellations = ({ bus, executorId, leases, log }: Deps): Subscription =>
  listen(
    bus,
    runSubjects.cancel(executorId, '*'),
    cancelRequest,
    ({ token }, { subject }) => findRun(leases, subject, token)?.cancel(),
    { log },
  );

/** Forwards streamed text of models to runs. */
export const listenForModelText = ({ bus, executorId, leases, log }: Deps): Subscription =>
  listen(
    bus,
    runSubjects.toolText(executorId, '*'),
    toolTextChunk,
    (words, { subject }) => findRun(leases, subject, words.token)?.words(words),
    { log },
  );

function findRun(leases: Deps['leases'], subject: string, token: string) {
  const run = leases.find(subject.slice(subject.lastIndexOf('.') + 1));
  return run && isSameToken(run.job.token, token) ? run : undefined;
}

function isSameToken(token: string, other: string): boolean {
  const [a, b] = [Buffer.from(token), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
