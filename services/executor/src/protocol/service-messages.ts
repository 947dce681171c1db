import { timingSafeEqual } from 'node:crypto';
import { type Bus, listen, runCancel, runSubjects } from '@gantry/events';
import type { Subscription } from 'nats';
import type { Logger } from 'pino';
import type { Leases } from './leases';

/** Stops runs on their service's request; the run's token authenticates the request. */
export const listenForCancellations = (deps: {
  bus: Bus;
  executorId: string;
  leases: Pick<Leases, 'find'>;
  log: Logger;
}): Subscription =>
  listen(
    deps.bus,
    runSubjects.cancel(deps.executorId, '*'),
    runCancel,
    ({ token }, { subject }) => {
      const run = deps.leases.find(subject.slice(subject.lastIndexOf('.') + 1));
      if (run && isSame(run.job.token, token)) run.cancel();
    },
    { log: deps.log },
  );

function isSame(token: string, given: string): boolean {
  const [a, b] = [Buffer.from(token), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
