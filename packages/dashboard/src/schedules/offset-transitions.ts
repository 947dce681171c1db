/** Clock changes of a time zone, and their effect on a schedule. */
import { formatTimeZone } from './describe-cron';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Clocks that change do so twice a year. */
const LOOKAHEAD_DAYS = 370;

interface OffsetTransition {
  /** The first moment with the new offset, epoch milliseconds. */
  at: number;
  /** Minutes that the clocks skip; negative where they go back. */
  skipped: number;
}

/** Returns the minutes that a zone is ahead of UTC. */
function getUtcOffset(timezone: string, at: number): number {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part;
  const local = Date.UTC(year, month - 1, day, hour, minute);
  return Math.round((local - Math.floor(at / MINUTE_MS) * MINUTE_MS) / MINUTE_MS);
}

/** Finds the next clock change; null for zones without any. */
export function findNextOffsetTransition(timezone: string, from: number): OffsetTransition | null {
  const before = getUtcOffset(timezone, from);
  for (let day = 1; day <= LOOKAHEAD_DAYS; day++) {
    if (getUtcOffset(timezone, from + day * DAY_MS) === before) continue;
    let [low, high] = [from + (day - 1) * DAY_MS, from + day * DAY_MS];
    while (high - low > MINUTE_MS) {
      const middle = Math.floor((low + high) / 2);
      if (getUtcOffset(timezone, middle) === before) low = middle;
      else high = middle;
    }
    const at = Math.floor(high / MINUTE_MS) * MINUTE_MS;
    return { at, skipped: getUtcOffset(timezone, high) - before };
  }
  return null;
}

/** Formats a moment in a zone as "2:30". */
export const formatClockTime = (timezone: string, at: number): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: 'numeric', minute: '2-digit' })
    .format(at)
    .replace(/^0(?=\d)/, '');

const formatDay = (timezone: string, at: number): string =>
  new Intl.DateTimeFormat(undefined, { timeZone: timezone, weekday: 'long', month: 'long', day: 'numeric' }).format(at);

/** Parses the fixed times of a cron expression, as minutes of the day; hourly times are not fixed. */
function parseFixedTimes(cron: string): number[] {
  const fields = cron.trim().split(/\s+/);
  const [minutes = '', hours = ''] = fields.slice(-5);
  const parseNumberList = (field: string) => (/^\d+(,\d+)*$/.test(field) ? field.split(',').map(Number) : []);
  return parseNumberList(hours).flatMap((hour) => parseNumberList(minutes).map((minute) => hour * 60 + minute));
}

const formatMinutes = (minutes: number): string =>
  `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;

/** Describes the effect of the next clock change on a schedule; null where there is none. */
export function describeOffsetTransition(
  { cron, timezone }: { cron: string; timezone: string },
  now: number,
): string | null {
  const change = findNextOffsetTransition(timezone, now);
  if (!change) return null;
  const { at, skipped } = change;
  const when = `On ${formatDay(timezone, at)}, clocks in ${formatTimeZone(timezone)} go ${skipped > 0 ? 'forward' : 'back'}`;
  const times = parseFixedTimes(cron);
  const getClockMinutes = (offset: number): number => {
    const [hour = 0, minute = 0] = formatClockTime(timezone, at + offset)
      .split(':')
      .map(Number);
    return hour * 60 + minute;
  };
  const after = getClockMinutes(0);
  const [from, to] = skipped > 0 ? [after - skipped, after] : [after, after - skipped];
  const affectedTimes = times.filter((time) => time >= from && time < to).map(formatMinutes);
  const [first] = affectedTimes;
  if (!first) return times.length ? `${when}. The schedule stays on local time.` : `${when}.`;
  return skipped > 0
    ? `${when}. ${first} is skipped, so the scheduled run starts at ${formatMinutes(after)}.`
    : `${when}. ${first} occurs twice, but the scheduled run starts only the first time.`;
}
