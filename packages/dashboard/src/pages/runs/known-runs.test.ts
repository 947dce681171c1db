import { type KnownRuns, merged, withFirst, withOlder } from './known-runs';
import type { RunRow } from './run-row';

const row = (key: string, createdAt: number) => ({ key, createdAt }) as RunRow;
const next = { before: 'x' };
const keysOf = ({ rows }: { rows: RunRow[] }) => rows.map(({ key }) => key).join('');

test('the newest page replaces what it covers, and older pages stay', () => {
  const first: KnownRuns = { rows: [row('d', 4), row('c', 3)], next };
  const known = withOlder(first, { rows: [row('b', 2), row('a', 1)], next: null });
  expect(keysOf(withFirst(known, { rows: [row('e', 5), row('d', 4)], next }))).toBe('edcba');
  // d no longer matches the filter.
  expect(keysOf(withFirst(known, { rows: [row('e', 5), row('c', 3)], next }))).toBe('ecba');
  expect(withFirst(known, { rows: [row('e', 5), row('d', 4)], next }).next).toBeNull();
});

test('after more than a page of new runs the list starts over, without a gap', () => {
  const known: KnownRuns = { rows: [row('b', 2), row('a', 1)], next: null };
  expect(withFirst(known, { rows: [row('z', 9), row('y', 8)], next })).toEqual({
    rows: [row('z', 9), row('y', 8)],
    next,
  });
});

test('merges two surfaces by time, down to where both are loaded', () => {
  const workers: KnownRuns = { rows: [row('f', 6), row('d', 4)], next };
  const automations: KnownRuns = { rows: [row('e', 5), row('a', 1)], next: { before: 'y' } };
  const both = merged([workers, automations]);
  expect(keysOf(both)).toBe('fed');
  expect(both.readOn).toBe(workers);
  const all = merged([
    { ...workers, next: null },
    { ...automations, next: null },
  ]);
  expect([keysOf(all), all.readOn]).toEqual(['feda', null]);
  // A page without a match among the maximum number of scanned runs.
  const empty = merged([{ rows: [], next }, automations]);
  expect(keysOf(empty)).toBe('');
  expect(empty.readOn?.rows).toEqual([]);
});
