import { listDueFires, type Schedule } from './cron';

/** Grace period: a busy moment or a restart is no outage. */
const GRACE_MS = 60_000;
/** Maximum number of missed fires that `catch_up` runs. */
const CATCH_UP_MAX = 100;

/** Policy for fires that passed during an outage. */
export type Misfire = 'skip' | 'fire_once' | 'catch_up';

export interface Plan {
  /** Fires to start a run for, in order. */
  start: Date[];
  /** Fires that passed without a run in time, including those made up for now. */
  missed: number;
  /** Number of missed fires in `start`. */
  late: number;
}

/** Plans the fires from `first` to `now` according to the schedule's misfire policy. */
export function planFires(schedule: Schedule, misfire: Misfire, first: Date, now: Date): Plan {
  const { fires, count } = listDueFires(schedule, first, now, CATCH_UP_MAX);
  const inTime = fires.filter((fire) => now.getTime() - fire.getTime() <= GRACE_MS);
  const missed = count - inTime.length;
  if (misfire === 'catch_up') return { start: fires, missed, late: fires.length - inTime.length };
  const [latest] = fires.slice(-1);
  if (misfire === 'fire_once' && !inTime.length && latest) return { start: [latest], missed, late: 1 };
  return { start: inTime, missed, late: 0 };
}
