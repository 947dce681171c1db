import { timingSafeEqual } from 'node:crypto';
import { type Bus, listen, runCancel, runSubjects, toolWords } from '@gantry/events';
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
    runCancel,
    ({ token }, { subject }) => runFor(leases, subject, token)?.cancel(),
    { log },
  );

/** Forwards streamed text of models to runs. */
export const listenForWords = ({ bus, executorId, leases, log }: Deps): Subscription =>
  listen(
    bus,
    runSubjects.words(executorId, '*'),
    toolWords,
    (words, { subject }) => runFor(leases, subject, words.token)?.words(words),
    { log },
  );

function runFor(leases: Deps['leases'], subject: string, token: string) {
  const run = leases.find(subject.slice(subject.lastIndexOf('.') + 1));
  return run && isSame(run.job.token, token) ? run : undefined;
}

function isSame(token: string, given: string): boolean {
  const [a, b] = [Buffer.from(token), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
