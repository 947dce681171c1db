import { describeClockProblem } from './clock';

const NOW = Date.parse('2026-01-05T09:00:00Z');
const at = (offsetS: number) => describeClockProblem('PostgreSQL', new Date(NOW + offsetS * 1_000), NOW, NOW + 1_500);

test.each([0, 1, -59, 60])('%d s apart is normal for networks and clocks', (offset) =>
  expect(at(offset)).toBeUndefined(),
);

test.each([
  [-120, '120 s behind'],
  [181.5, '180 s ahead of'],
])('minutes apart is reported with the direction', (offset, apart) => {
  expect(at(offset)).toBe(`PostgreSQL's clock is ${apart} this machine's: synchronise both with NTP`);
});
