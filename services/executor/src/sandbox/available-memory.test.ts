import { getAvailableMemory, getMachineMemory, sumPageCacheBytes } from './available-memory';

test.each([
  [
    'cgroup v1',
    'cache 9\ninactive_file 1\nactive_file 2\ntotal_cache 90\ntotal_inactive_file 10\ntotal_active_file 20\n',
  ],
  ['cgroup v2', 'anon 5\nfile 90\nshmem 60\ninactive_anon 7\nactive_anon 8\ninactive_file 10\nactive_file 20\n'],
])('the page cache of %s is that of the whole group, without shared memory', (_, memoryStat) => {
  expect(sumPageCacheBytes(memoryStat)).toBe(30);
});

test('a group whose page cache is not told has none', () => {
  expect(sumPageCacheBytes('')).toBe(0);
});

test('the available memory is within that of the machine', () => {
  expect(getAvailableMemory()).toBeGreaterThan(0);
  expect(getAvailableMemory()).toBeLessThanOrEqual(getMachineMemory());
});
