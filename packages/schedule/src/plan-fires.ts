import { dueFires, type Schedule } from './cron';

/** A fire this late still counts as in its time: a busy moment or a restart is no outage. */
const GRACE_MS = 60_000;
/** How many fires of an outage `catch_up` makes good. */
const CATCH_UP_MAX = 100;

/** What becomes of fires that passed while nobody was there to start them. */
export type Misfire = 'skip' | 'fire_once' | 'catch_up';

export interface Plan {
  /** Fires to start a run for, in order. */
  start: Date[];
  /** Fires that came and went without a run in their time, also those that are made good now. */
  missed: number;
  /** How many of `start` are missed ones. */
  late: number;
}

/** What to do about the fires from `first` to `now`, by the schedule's misfire policy. */
export function planFires(schedule: Schedule, misfire: Misfire, first: Date, now: Date): Plan {
  const { fires, count } = dueFires(schedule, first, now, CATCH_UP_MAX);
  const inTime = fires.filter((fire) => now.getTime() - fire.getTime() <= GRACE_MS);
  const missed = count - inTime.length;
  if (misfire === 'catch_up') return { start: fires, missed, late: fires.length - inTime.length };
  const [latest] = fires.slice(-1);
  if (misfire === 'fire_once' && !inTime.length && latest) return { start: [latest], missed, late: 1 };
  return { start: inTime, missed, late: 0 };
}
