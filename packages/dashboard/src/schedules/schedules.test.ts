import { describeCron, describeSchedule } from './describe-cron';
import { describeOffsetTransition, findNextOffsetTransition } from './offset-transitions';
import { parseSimpleCron, toCron } from './simple-schedule';

test.each([
  ['* * * * *', 'every minute'],
  ['*/5 * * * *', 'every 5 minutes'],
  ['*/10 * * * * *', 'every 10 seconds'],
  ['0 * * * *', 'every hour'],
  ['30 * * * *', 'every hour at :30'],
  ['0 */6 * * *', 'every 6 hours'],
  ['0 9 * * *', 'daily at 9:00'],
  ['0 9,17 * * *', 'daily at 9:00 and 17:00'],
  ['0 9 * * MON-FRI', 'weekdays at 9:00'],
  ['5 18 * * 6,0', 'weekends at 18:05'],
  ['0 9 * * mon', 'Mondays at 9:00'],
  ['0 9 * * 5,1,3', 'Mondays, Wednesdays and Fridays at 9:00'],
  ['0 9 1 * *', 'on the 1st of each month at 9:00'],
  ['0 9 1,22 * *', 'on the 1st and 22nd of each month at 9:00'],
  ['0 9 L * *', 'on the last day of each month at 9:00'],
  ['0 9 24 DEC *', 'on the 24th of December at 9:00'],
  ['0 9 * * MON#1', 'on the first Monday of each month at 9:00'],
  ['*/15 9-17 * * MON-FRI', 'every 15 minutes from 9:00 to 17:59, weekdays'],
  ['0 9-17 * * *', 'every hour from 9:00 to 17:00'],
  ['0 9 * 1-3 *', 'every day in January, February and March at 9:00'],
])('%s is %s', (cron, words) => {
  expect(describeCron(cron)).toBe(words);
});

test.each(['0 9 1 * MON', '*/7 * * * *', '0 1-23/2 * * *x', '1,2,3,4,5 9 * * *', 'nonsense', '0 9 32 * *'])(
  '%s is left as it is: a short description would be wrong',
  (cron) => {
    expect(describeCron(cron)).toBeNull();
    expect(describeSchedule({ cron, timezone: 'UTC' })).toBe(`on the cron schedule ${cron}, UTC`);
  },
);

test('zones are cities', () => {
  expect(describeSchedule({ cron: '0 9 * * *', timezone: 'America/New_York' })).toBe('daily at 9:00, New York');
});

test('the form describes what it can, and leaves the rest to cron', () => {
  for (const cron of ['15 * * * *', '0 9 * * *', '30 6 * * MON-FRI', '0 9 * * WED', '5 4 28 * *']) {
    const simple = parseSimpleCron(cron);
    expect(simple && toCron(simple)).toBe(cron);
  }
  for (const cron of ['*/5 * * * *', '0 9 1 1 *', '0 0 9 * * *', '0 9 1 * MON'])
    expect(parseSimpleCron(cron)).toBeNull();
});

const spring = Date.parse('2026-03-01T00:00:00Z');
const autumn = Date.parse('2026-10-01T00:00:00Z');
const note = (cron: string, timezone: string, now: number) => describeOffsetTransition({ cron, timezone }, now);

test('clock changes are found to the minute', () => {
  expect(findNextOffsetTransition('Europe/Berlin', spring)).toEqual({
    at: Date.parse('2026-03-29T01:00:00Z'),
    skipped: 60,
  });
  expect(findNextOffsetTransition('Europe/Berlin', autumn)).toEqual({
    at: Date.parse('2026-10-25T01:00:00Z'),
    skipped: -60,
  });
  expect(findNextOffsetTransition('Asia/Tokyo', spring)).toBeNull();
});

test('times that the clocks skip or repeat are pointed out', () => {
  expect(note('30 2 * * *', 'Europe/Berlin', spring)).toMatch(
    /go forward\. 2:30 is skipped, so the scheduled run starts at 3:00\.$/,
  );
  expect(note('30 2 * * *', 'Europe/Berlin', autumn)).toMatch(
    /go back\. 2:30 occurs twice, but the scheduled run starts only the first time\.$/,
  );
  expect(note('0 9 * * *', 'Europe/Berlin', autumn)).toMatch(/go back\. The schedule stays on local time\.$/);
  expect(note('0 * * * *', 'Europe/Berlin', autumn)).toMatch(/go back\.$/);
  expect(note('30 2 * * *', 'UTC', autumn)).toBeNull();
});
