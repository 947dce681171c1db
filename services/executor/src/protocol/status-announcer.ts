import { setAlignedInterval } from '@gantry/env';
import { type Bus, type ExecutorStatus, encode, publishIfOpen, runSubjects } from '@gantry/events';

const STATUS_MS = 5_000;
/** Changes within this time are announced together. */
const STATUS_COALESCE_MS = 500;

/** Publishes this executor's status every few seconds and on change. @param getStatus called each time */
export function startStatusPublisher(bus: Bus, executorId: string, getStatus: () => ExecutorStatus) {
  let coalescing: NodeJS.Timeout | undefined;

  function announce(status: ExecutorStatus) {
    clearTimeout(coalescing);
    coalescing = undefined;
    publishIfOpen(bus, runSubjects.executorStatus(executorId), encode(status));
  }
  const announceNow = () => announce(getStatus());
  const announcing = setAlignedInterval(announceNow, STATUS_MS);

  return {
    now: announceNow,
    /** Announces soon, together with other changes. */
    soon() {
      coalescing ??= setTimeout(announceNow, STATUS_COALESCE_MS);
    },
    /** Announces for the last time. */
    stop() {
      announcing.stop();
      announce({ ...getStatus(), state: 'stopped' });
    },
  };
}
