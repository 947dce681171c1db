import { waitUntil } from '@gantry/testing';
import { createRedactorCache } from './redactor-cache';

test('a set of secrets is prepared once, whatever its order, and no other set gets its redactor', () => {
  const redactorFor = createRedactorCache();
  const first = redactorFor(['one-secret', 'another']);
  expect(redactorFor(['another', 'one-secret'])).toBe(first);
  for (const other of [
    ['one-secret'],
    ['one-secretanother'],
    ['one-secret', 'anothe', 'r'],
    ['one-secreta', 'nother'],
  ]) {
    expect(redactorFor(other)).not.toBe(first);
  }
  expect(first.text('one-secret and another')).toBe('*** and ***');
});

test('an unused redactor is evicted after a while', async () => {
  const redactorFor = createRedactorCache({ keepMs: 50 });
  const first = redactorFor(['one-secret']);
  expect(redactorFor(['one-secret'])).toBe(first);
  // Each use renews it, so it is used at longer and longer intervals.
  let pauseMs = 10;
  await waitUntil(async () => {
    pauseMs *= 2;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return redactorFor(['one-secret']) !== first;
  });
});

test.each([
  ['many sets', Array.from({ length: 40 }, (_, n) => [`secret-number-${n}`])],
  ['large sets', Array.from({ length: 8 }, (_, n) => [`${n}`.repeat(40_000)])],
])('%s are not all cached', (_, sets) => {
  const redactorFor = createRedactorCache();
  const first = redactorFor(['one-secret']);
  for (const set of sets) redactorFor(set);
  expect(redactorFor(['one-secret'])).not.toBe(first);
});
