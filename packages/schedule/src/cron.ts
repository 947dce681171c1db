import { type FieldProblem, invalid } from '@gantry/errors';
import { Cron } from 'croner';

export interface Schedule {
  /** Five fields, or six with seconds first. */
  cron: string;
  /** IANA name. */
  timezone: string;
}

/**
 * @param paths the names of the fields in the request
 * @throws AppError 400 `bad_schedule` naming the field
 */
export function checkSchedule(schedule: Schedule, paths: Record<keyof Schedule, string>): void {
  const inZone = findTimeZoneProblem(schedule.timezone, paths.timezone);
  const problems = [findCronProblem(inZone ? { ...schedule, timezone: 'UTC' } : schedule, paths.cron), inZone];
  const found = problems.filter((problem) => problem !== null);
  if (found.length) throw invalid(found, 'bad_schedule');
}

function findTimeZoneProblem(timezone: string, path: string): FieldProblem | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    // Offsets like +02:00 would be accepted too, but have no daylight saving time.
    if (/^[A-Za-z]/.test(timezone)) return null;
  } catch {}
  return { path, message: `"${timezone}" is not an IANA time zone such as Europe/Berlin or UTC` };
}

function findCronProblem(schedule: Schedule, path: string): FieldProblem | null {
  const fields = schedule.cron.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6) {
    return { path, message: `must have five fields, or six with seconds first; it has ${fields.length}` };
  }
  const names = FIELDS.slice(-fields.length);
  const wrong = fields.flatMap((field, at) => {
    const alone = names.map((_name, other) => (other === at ? field : '*')).join(' ');
    return isCron(alone) ? [] : [`"${field}" is not a valid ${names[at]}`];
  });
  if (wrong.length) return { path, message: wrong.join(', ') };
  return findNextFire(schedule, new Date()) ? null : { path, message: 'never fires' };
}

const FIELDS = ['second', 'minute', 'hour', 'day of the month', 'month', 'day of the week'];

function isCron(text: string): boolean {
  try {
    return Boolean(new Cron(text, { paused: true, mode: '5-or-6-parts' }));
  } catch {
    return false;
  }
}

/** The first fire after `after`; null if there is none. */
export function findNextFire({ cron, timezone }: Schedule, after: Date): Date | null {
  return new Cron(cron.trim(), { timezone, paused: true, mode: '5-or-6-parts' }).nextRun(after);
}

export interface DueFires {
  /** In order; at most `max`, the latest ones. */
  fires: Date[];
  /** Total number, including those left out of `fires`. */
  count: number;
}

/** Counting stops here: a per-second schedule that slept for a month must not delay the others. */
const COUNT_MAX = 2_000;

/** Fires from `first` (itself a fire) to `now`, inclusive. */
export function listDueFires(schedule: Schedule, first: Date, now: Date, max: number): DueFires {
  const cron = new Cron(schedule.cron.trim(), { timezone: schedule.timezone, paused: true, mode: '5-or-6-parts' });
  const fires: Date[] = [];
  let count = 0;
  for (let fire: Date | null = first; fire && fire <= now && count < COUNT_MAX; fire = cron.nextRun(fire)) {
    count++;
    fires.push(fire);
    // Bounded: COUNT_MAX fires, of which 100 are kept (CATCH_UP_MAX).
    if (fires.length > max) fires.shift();
  }
  if (count < COUNT_MAX) return { fires, count };
  const latest = cron.previousRuns(max, new Date(now.getTime() + 1)).filter((fire) => fire > first);
  return { fires: latest.sort((a, b) => a.getTime() - b.getTime()), count };
}
