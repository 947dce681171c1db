import { type Bus, type ExecutorStatus, encode, runSubjects } from '@gantry/events';

const STATUS_MS = 5_000;
/** Changes within this time are told once. */
const STATUS_COALESCE_MS = 500;

export interface StatusAnnouncer {
  now(): void;
  /** With what else changes within a moment. */
  soon(): void;
  /** For the last time. */
  stop(): void;
}

/** Tells whoever cares how this executor does, every few seconds and when it changes. @param statusOf is asked each time */
export function announceStatus(bus: Bus, executorId: string, statusOf: () => ExecutorStatus): StatusAnnouncer {
  let coalescing: NodeJS.Timeout | undefined;

  function announce(status: ExecutorStatus) {
    clearTimeout(coalescing);
    coalescing = undefined;
    bus.nc.publish(runSubjects.executorStatus(executorId), encode(status));
  }
  const now = () => announce(statusOf());
  const timer = setInterval(now, STATUS_MS);

  return {
    now,
    soon() {
      coalescing ??= setTimeout(now, STATUS_COALESCE_MS);
    },
    stop() {
      clearInterval(timer);
      announce({ ...statusOf(), state: 'stopped' });
    },
  };
}
