import { checkSchedule, findNextFire } from './cron';
import { planFires } from './plan-fires';

const at = (text: string) => new Date(text);
const iso = (dates: Date[]) => dates.map((date) => date.toISOString());
const minutely = { cron: '* * * * *', timezone: 'UTC' };

describe('the next fire', () => {
  test('is in the zone of the schedule, also over the change to summer time', () => {
    const nine = { cron: '0 9 * * *', timezone: 'Europe/Berlin' };
    expect(findNextFire(nine, at('2026-03-28T12:00:00Z'))).toEqual(at('2026-03-29T07:00:00Z'));
    expect(findNextFire(nine, at('2026-03-27T12:00:00Z'))).toEqual(at('2026-03-28T08:00:00Z'));
  });

  test('has a precision of seconds', () => {
    expect(findNextFire({ cron: '*/10 * * * * *', timezone: 'UTC' }, at('2026-01-01T00:00:01Z'))).toEqual(
      at('2026-01-01T00:00:10Z'),
    );
  });
});

test.each([
  ['* * * *', 'UTC', 'schedule'],
  ['* * * * * * *', 'UTC', 'schedule'],
  ['@daily', 'UTC', 'schedule'],
  ['61 * * * *', 'UTC', 'schedule'],
  ['every monday at nine sharp', 'UTC', 'schedule'],
  ['0 0 31 2 *', 'UTC', 'schedule'],
  ['* * * * *', 'Mars/Olympus', 'timezone'],
  ['* * * * *', '+02:00', 'timezone'],
])('%j in %j is refused, naming the field', (cron, timezone, path) => {
  expect(() => checkSchedule({ cron, timezone }, { cron: 'schedule', timezone: 'timezone' })).toThrow(
    expect.objectContaining({ code: 'bad_schedule', fields: [{ path, message: expect.any(String) }] }),
  );
});

test.each([
  ['61 * * * *', '"61" is not a valid minute'],
  ['0 0 0 32 13 *', '"32" is not a valid day of the month, "13" is not a valid month'],
  ['1,,2 */x * * 9', '"1,,2" is not a valid minute, "*/x" is not a valid hour, "9" is not a valid day of the week'],
])('%j: %s', (cron, message) => {
  expect(() => checkSchedule({ cron, timezone: 'UTC' }, { cron: 'cron', timezone: 'zone' })).toThrow(
    `cron: ${message}`,
  );
});

test('every problem of a schedule is reported at once', () => {
  const check = () => checkSchedule({ cron: '* * *', timezone: 'Mars/Olympus' }, { cron: 'cron', timezone: 'zone' });
  expect(check).toThrow(
    expect.objectContaining({
      fields: [expect.objectContaining({ path: 'cron' }), expect.objectContaining({ path: 'zone' })],
    }),
  );
});

describe('after an outage from 10:00 to 10:05:30', () => {
  const first = at('2026-01-01T10:01:00Z');
  const now = at('2026-01-01T10:05:30Z');

  test('skip runs the fire that is on time, and counts the rest as missed', () => {
    const { start, missed } = planFires(minutely, 'skip', first, now);
    expect([iso(start), missed]).toEqual([['2026-01-01T10:05:00.000Z'], 4]);
  });

  test('fire_once runs one missed fire, unless another is due anyway', () => {
    const hourly = { cron: '1 * * * *', timezone: 'UTC' };
    expect(planFires(hourly, 'fire_once', first, now)).toEqual({ start: [first], missed: 1, late: 1 });
    expect(iso(planFires(minutely, 'fire_once', first, now).start)).toEqual(['2026-01-01T10:05:00.000Z']);
  });

  test('catch_up runs every fire', () => {
    const { start, missed } = planFires(minutely, 'catch_up', first, now);
    expect([start.length, missed]).toEqual([5, 4]);
  });

  test('a single late fire is not skipped', () => {
    const hourly = { cron: '1 * * * *', timezone: 'UTC' };
    expect(planFires(hourly, 'skip', first, now)).toEqual({ start: [], missed: 1, late: 0 });
  });
});

test('catch_up is limited to the last 100', () => {
  const now = at('2026-01-01T12:00:30Z');
  const { start, missed } = planFires(minutely, 'catch_up', at('2026-01-01T00:01:00Z'), now);
  expect([start.length, start.at(-1), missed]).toEqual([100, at('2026-01-01T12:00:00Z'), 719]);
});

test('after a month without a tick, the latest fire of an every-second schedule is found without counting all of them', () => {
  const secondly = { cron: '* * * * * *', timezone: 'UTC' };
  const now = at('2026-02-01T00:00:00Z');
  const { start, missed } = planFires(secondly, 'fire_once', at('2026-01-01T00:00:00Z'), now);
  expect(start.at(-1)).toEqual(now);
  expect(missed).toBeLessThanOrEqual(2_000);
});
