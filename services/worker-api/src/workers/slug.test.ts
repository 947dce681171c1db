import { findFreeSlug, isReserved, SLUG, toSlug } from './slug';

test.each([
  ['Price watch', 'price-watch'],
  ['  Übung №5: “Größe”! ', 'ubung-no5-gro-e'],
  ['a', 'worker-a'],
  ['Tags', 'worker-tags'],
  ['東京', 'worker'],
  [`${'long '.repeat(30)}`, 'long-long-long-long-long-long-long-long-long-long-long-lo'],
])('a worker called %s is %s', (name, slug) => {
  expect(toSlug(name, 'worker')).toBe(slug);
});

test('every name gives a slug, and so does every number and suffix after it', () => {
  const letters = ['a', 'Z', '9', '-', ' ', '/', 'é', 'ß', '東', '😀', '.', '\u0301'];
  for (let seed = 0; seed < 5_000; seed++) {
    const name = Array.from({ length: 1 + (seed % 90) }, (_, n) => letters[(seed * 7 + n * n * 13 + n) % 12]).join('');
    const slug = toSlug(name, 'worker');
    for (const id of [slug, findFreeSlug(slug, new Set([slug]), 0), findFreeSlug(slug, new Set(), 3)]) {
      expect(id).toMatch(SLUG);
      expect(isReserved(id)).toBe(false);
    }
  }
});

test('the first free number is used, and a random suffix after three conflicts', () => {
  expect(findFreeSlug('job', new Set(), 0)).toBe('job');
  expect(findFreeSlug('job', new Set(['job', 'job-2', 'job-4']), 1)).toBe('job-3');
  expect(findFreeSlug('job', new Set(), 3)).toMatch(/^job-[0-9a-z]{6}$/);
});
