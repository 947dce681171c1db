import type { RunsPage } from './load-runs';
import { appendOlderPage, mergeFirstPage, mergeSurfaces } from './loaded-runs';
import type { RunRow } from './run-row';

const buildRow = (key: string, createdAt: number) => ({ key, createdAt }) as RunRow;
const next = { before: 'x' };
const joinKeys = ({ rows }: { rows: RunRow[] }) => rows.map(({ key }) => key).join('');

test('the newest page replaces what it covers, and older pages stay', () => {
  const first: RunsPage = { rows: [buildRow('d', 4), buildRow('c', 3)], next };
  const loaded = appendOlderPage(first, { rows: [buildRow('b', 2), buildRow('a', 1)], next: null });
  expect(joinKeys(mergeFirstPage(loaded, { rows: [buildRow('e', 5), buildRow('d', 4)], next }))).toBe('edcba');
  // d no longer matches the filter.
  expect(joinKeys(mergeFirstPage(loaded, { rows: [buildRow('e', 5), buildRow('c', 3)], next }))).toBe('ecba');
  expect(mergeFirstPage(loaded, { rows: [buildRow('e', 5), buildRow('d', 4)], next }).next).toBeNull();
});

test('after more than a page of new runs the list starts over, without a gap', () => {
  const known: RunsPage = { rows: [buildRow('b', 2), buildRow('a', 1)], next: null };
  expect(mergeFirstPage(known, { rows: [buildRow('z', 9), buildRow('y', 8)], next })).toEqual({
    rows: [buildRow('z', 9), buildRow('y', 8)],
    next,
  });
});

test('merges two surfaces by time, down to where both are loaded', () => {
  const workers: RunsPage = { rows: [buildRow('f', 6), buildRow('d', 4)], next };
  const automations: RunsPage = { rows: [buildRow('e', 5), buildRow('a', 1)], next: { before: 'y' } };
  const both = mergeSurfaces([workers, automations]);
  expect(joinKeys(both)).toBe('fed');
  expect(both.nextToLoad).toBe(workers);
  const all = mergeSurfaces([
    { ...workers, next: null },
    { ...automations, next: null },
  ]);
  expect([joinKeys(all), all.nextToLoad]).toEqual(['feda', null]);
  // A page without a match among the maximum number of scanned runs.
  const empty = mergeSurfaces([{ rows: [], next }, automations]);
  expect(joinKeys(empty)).toBe('');
  expect(empty.nextToLoad?.rows).toEqual([]);
});
