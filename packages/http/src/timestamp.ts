/** Timestamps by RFC 3339, limited to those that our clocks and PostgreSQL support. */

const TIMESTAMP_PATTERN = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:Z|[+-](\d\d):(\d\d))$/i;
const YEAR_MAX = 9_999;

/** Rejects timestamps of RFC 3339 that our clocks lack (a leap second, the year 0), and days that do not exist. */
export function isTimestamp(text: string): boolean {
  const [, year, month, day, hour, minute, second, offsetHours = 0, offsetMinutes = 0] =
    TIMESTAMP_PATTERN.exec(text) ?? [];
  if (year === undefined) return false;
  if (!isValidDay(Number(year), Number(month), Number(day))) return false;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return false;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return false;
  // The offset may lead out of the supported years.
  const utcYear = new Date(text).getUTCFullYear();
  return utcYear >= 1 && utcYear <= YEAR_MAX;
}

function isValidDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}
