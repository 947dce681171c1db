import { isTimestamp } from './timestamp';

test.each([
  '2026-01-05T09:00:00Z',
  '2026-01-05t09:00:00.123456789z',
  '2024-02-29T23:59:59+23:59',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
])('%s is a timestamp', (text) => {
  expect(isTimestamp(text)).toBe(true);
});

test.each([
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['no day', '0000-00-00T00:00:00Z'],
  ['a 13th month', '2026-13-01T00:00:00Z'],
  ['a 30th of February', '2026-02-30T00:00:00Z'],
  ['a 29th of February in a common year', '2026-02-29T00:00:00Z'],
  ['24:00', '2026-01-05T24:00:00Z'],
  ['a leap second', '2016-12-31T23:59:60Z'],
  ['an offset of a day', '2026-01-05T09:00:00+24:00'],
  ['an offset without a colon', '2026-01-05T09:00:00+0200'],
  ['no offset', '2026-01-05T09:00:00'],
  ['an offset that leads into the year 0', '0001-01-01T00:00:00+14:00'],
  ['an offset that leads behind the year 9999', '9999-12-31T23:59:59-14:00'],
  ['a day alone', '2026-01-05'],
  ['a year of five digits', '+12026-01-05T09:00:00Z'],
  ['text around it', ' 2026-01-05T09:00:00Z'],
])('%s is no timestamp: %s', (_what, text) => {
  expect(isTimestamp(text)).toBe(false);
});
