/** The most common schedules, which a form can show without cron; all others are cron expressions. */

export type RepeatInterval = 'hourly' | 'daily' | 'weekdays' | 'weekly' | 'monthly';

export interface SimpleSchedule {
  repeats: RepeatInterval;
  /** "09:00"; only the minutes count for hourly schedules. */
  time: string;
  /** Day of the week, for weekly schedules; 0 is Sunday. */
  weekday: number;
  /** Day of the month, for monthly schedules. */
  day: number;
}

const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

export const DEFAULT_SCHEDULE: SimpleSchedule = { repeats: 'daily', time: '09:00', weekday: 1, day: 1 };

export function toCron({ repeats, time, weekday, day }: SimpleSchedule): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  switch (repeats) {
    case 'hourly':
      return `${minute} * * * *`;
    case 'daily':
      return `${minute} ${hour} * * *`;
    case 'weekdays':
      return `${minute} ${hour} * * MON-FRI`;
    case 'weekly':
      return `${minute} ${hour} * * ${WEEKDAYS[weekday] ?? 'MON'}`;
    case 'monthly':
      return `${minute} ${hour} ${day} * *`;
  }
}

/** Parses a cron expression; null for schedules that the form can't show. */
export function parseSimpleCron(cron: string): SimpleSchedule | null {
  const [minute = '', hour = '', day = '', month = '', weekday = '', more] = cron.trim().toUpperCase().split(/\s+/);
  if (more !== undefined || month !== '*' || !/^\d{1,2}$/.test(minute)) return null;
  if (hour === '*' && day === '*' && weekday === '*')
    return { ...DEFAULT_SCHEDULE, repeats: 'hourly', time: formatClock('0', minute) };
  if (!/^\d{1,2}$/.test(hour)) return null;
  const at = { ...DEFAULT_SCHEDULE, time: formatClock(hour, minute) };
  if (/^\d{1,2}$/.test(day) && weekday === '*') return { ...at, repeats: 'monthly', day: Number(day) };
  if (day !== '*') return null;
  if (weekday === '*') return { ...at, repeats: 'daily' };
  if (weekday === 'MON-FRI' || weekday === '1-5') return { ...at, repeats: 'weekdays' };
  const named = WEEKDAYS.indexOf(weekday);
  if (named !== -1) return { ...at, repeats: 'weekly', weekday: named };
  return /^[0-7]$/.test(weekday) ? { ...at, repeats: 'weekly', weekday: Number(weekday) % 7 } : null;
}

const formatClock = (hour: string, minute: string): string => `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
