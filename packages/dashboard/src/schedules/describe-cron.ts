/** Describes cron expressions: "weekdays at 9:00". Expressions without a short description are shown as they are. */

interface CronFields {
  second: string;
  minute: string;
  hour: string;
  day: string;
  month: string;
  weekday: string;
}

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
const ORDINALS: Record<string, string> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', 5: 'fifth', L: 'last' };
/** More times than these would make the list unreadable. */
const TIMES_MAX = 4;

/** Describes a cron expression; null where no short text is exact. */
export function describeCron(cron: string): string | null {
  const fields = parseFields(cron);
  if (!fields) return null;
  const days = describeDays(fields);
  const times = describeTimes(fields);
  if (days === null || times === null) return null;
  if (days === '') return times.repeats ? times.words : `daily ${times.words}`;
  return times.repeats ? `${times.words}, ${days}` : `${days} ${times.words}`;
}

/** Describes a schedule with its time zone: "weekdays at 9:00, Berlin". */
export function describeSchedule({ cron, timezone }: { cron: string; timezone: string }): string {
  return `${describeCron(cron) ?? `on the cron schedule ${cron}`}, ${formatTimeZone(timezone)}`;
}

/** Formats "America/New_York" as "New York". */
export const formatTimeZone = (timezone: string): string =>
  (timezone.split('/').at(-1) ?? timezone).replaceAll('_', ' ');

function parseFields(cron: string): CronFields | null {
  const parts = cron.trim().toUpperCase().replaceAll('?', '*').split(/\s+/);
  if (parts.length === 5) parts.unshift('0');
  if (parts.length !== 6) return null;
  const [second = '', minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  return { second, minute, hour, day, month, weekday };
}

interface Times {
  words: string;
  /** Several times a day by a rule, rather than at listed times. */
  repeats: boolean;
}

function describeTimes({ second, minute, hour }: CronFields): Times | null {
  const toRepeatingTimes = (text: string): Times => ({ words: text, repeats: true });
  const seconds = parseStep(second, 60);
  const minutes = parseStep(minute, 60);
  const hours = parseStep(hour, 24);
  if (seconds !== null)
    return minutes === 1 && hours === 1 ? toRepeatingTimes(formatInterval(seconds, 'second')) : null;
  if (second !== '0') return null;
  const between = describeHours(hour);
  if (minutes !== null) {
    if (hours === 1) return toRepeatingTimes(formatInterval(minutes, 'minute'));
    return between ? toRepeatingTimes(`${formatInterval(minutes, 'minute')} ${between}`) : null;
  }
  const minuteList = parseNumbers(minute, 0, 59);
  if (!minuteList) return null;
  if (hours !== null) {
    if (minuteList.length > 1) return null;
    const past = minuteList[0] === 0 ? '' : ` at :${String(minuteList[0]).padStart(2, '0')}`;
    return toRepeatingTimes(`${formatInterval(hours, 'hour')}${past}`);
  }
  const hourList = parseNumbers(hour, 0, 23);
  if (!hourList) return null;
  const clock = hourList.flatMap((at) => minuteList.map((past) => `${at}:${String(past).padStart(2, '0')}`));
  if (clock.length <= TIMES_MAX) return { words: `at ${formatList(clock)}`, repeats: false };
  return between && minuteList.length === 1 && minuteList[0] === 0
    ? toRepeatingTimes(`every hour ${between.replace(':59', ':00')}`)
    : null;
}

/** Describes the days; empty for every day. */
function describeDays({ day, month, weekday }: CronFields): string | null {
  // With both, cron means either of them, which few users expect.
  if (day !== '*' && weekday !== '*') return null;
  const months = month === '*' ? [] : listMonths(month);
  if (!months) return null;
  if (day === '*') {
    const weekdays = weekday === '*' ? '' : describeWeekdays(weekday);
    if (weekdays === null || !months.length) return weekdays;
    return `${weekdays || 'every day'} in ${formatList(months)}`;
  }
  const dates = day === 'L' ? ['last day'] : parseNumbers(day, 1, 31)?.map(formatOrdinal);
  if (!dates || dates.length > TIMES_MAX) return null;
  return `on the ${formatList(dates)} of ${months.length ? formatList(months) : 'each month'}`;
}

function describeWeekdays(field: string): string | null {
  const [name = '', nth] = field.split('#');
  if (nth !== undefined) {
    const only = parseNumbers(toWeekdayNumbers(name), 0, 7);
    const which = ORDINALS[nth];
    return only?.length === 1 && which ? `on the ${which} ${DAYS[(only[0] ?? 0) % 7]} of each month` : null;
  }
  const numbers = parseNumbers(toWeekdayNumbers(field), 0, 7);
  if (!numbers) return null;
  // From Monday on, as weeks are read.
  const days = [...new Set(numbers.map((number) => number % 7))].sort((a, b) => ((a + 6) % 7) - ((b + 6) % 7));
  const key = days.join();
  if (key === '1,2,3,4,5,6,0') return '';
  if (key === '1,2,3,4,5') return 'weekdays';
  if (key === '6,0') return 'weekends';
  return formatList(days.map((number) => `${DAYS[number]}s`));
}

const toWeekdayNumbers = (field: string): string => replaceNames(field, DAYS, 0);

const listMonths = (field: string): string[] | null =>
  parseNumbers(replaceNames(field, MONTHS, 1), 1, 12)?.map((number) => MONTHS[number - 1] ?? '') ?? null;

/** Replaces names by numbers: MON and JAN become 1. */
function replaceNames(field: string, names: string[], first: number): string {
  return field.replace(/[A-Z]{3,}/g, (name) => {
    const at = names.findIndex((candidate) => candidate.slice(0, 3).toUpperCase() === name.slice(0, 3));
    return at === -1 ? name : String(at + first);
  });
}

// Parses the step of `*` or `*/n`; null for anything else, and for steps that do not divide the whole.
function parseStep(field: string, whole: number): number | null {
  if (field === '*') return 1;
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1]);
  return step && whole % step === 0 ? step : null;
}

/** Parses numbers, lists and ranges, sorted; null for anything else. */
function parseNumbers(field: string, minimum: number, maximum: number): number[] | null {
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [, from, to, step] = /^(\d{1,2})(?:-(\d{1,2}))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (from === undefined || (step !== undefined && to === undefined) || Number(step) === 0) return null;
    for (let at = Number(from); at <= Number(to ?? from); at += Number(step ?? 1)) found.add(at);
  }
  const numbers = [...found].sort((a, b) => a - b);
  return numbers.length && numbers.every((number) => number >= minimum && number <= maximum) ? numbers : null;
}

function describeHours(hour: string): string | null {
  const [, from, to] = /^(\d{1,2})-(\d{1,2})$/.exec(hour) ?? [];
  return from && to ? `from ${Number(from)}:00 to ${Number(to)}:59` : null;
}

const formatInterval = (count: number, unit: string): string =>
  count === 1 ? `every ${unit}` : `every ${count} ${unit}s`;

const listFormat = new Intl.ListFormat('en', { type: 'conjunction' });
const formatList = (items: string[]): string => listFormat.format(items).replace(', and', ' and');

const ORDINAL_SUFFIXES: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };
const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });
const formatOrdinal = (number: number): string => `${number}${ORDINAL_SUFFIXES[ordinalRules.select(number)] ?? 'th'}`;
