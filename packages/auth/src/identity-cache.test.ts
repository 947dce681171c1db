import { setImmediate } from 'node:timers/promises';
import type { Identity } from '@gantry/events';
import { buildTestUser } from '@gantry/testing';
import type { Credential } from './credential';
import { createIdentityCache } from './identity-cache';

const credential: Credential = { kind: 'token', secret: 'svc_a' };
const identity: Identity = {
  kind: 'personal_token',
  ...buildTestUser(),
  defaultWorkspaceId: 'ws_a',
  memberships: { ws_a: 'member' },
  expiresAt: null,
};

let now: number;
let lookups: number;
let lookUp: () => Promise<Identity | null>;
let cache: ReturnType<typeof createIdentityCache>;
beforeEach(() => {
  now = 0;
  lookups = 0;
  lookUp = async () => identity;
  cache = createIdentityCache(
    () => {
      lookups++;
      return lookUp();
    },
    () => now,
  );
});

test('one lookup serves many requests, including those that arrive during it', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => cache.identify(credential)));
  expect(answers.every((found) => found === identity)).toBe(true);
  await cache.identify(credential);
  expect(lookups).toBe(1);
});

test('an identity is cached for at most twenty seconds', async () => {
  await cache.identify(credential);
  now = 20_000;
  await cache.identify(credential);
  expect(lookups).toBe(2);
});

test('an identity in use is looked up ahead, so that no request is refused in an outage of a few seconds', async () => {
  await cache.identify(credential);
  now = 9_000;
  expect(await cache.identify(credential)).toBe(identity);
  expect(lookups).toBe(2);
  await setImmediate();
  lookUp = () => Promise.reject(new Error('away'));
  now = 17_500;
  for (let request = 0; request < 10; request++) expect(await cache.identify(credential)).toBe(identity);
  expect(lookups).toBe(3);
  now = 22_500;
  expect(await cache.identify(credential)).toBe(identity);
  now = 24_500;
  await expect(cache.identify(credential)).rejects.toThrow('away');
});

test('after a reconnection an identity serves once more, while it is looked up again', async () => {
  await cache.identify(credential);
  cache.renewAll();
  lookUp = async () => null;
  expect(await cache.identify(credential)).toBe(identity);
  await setImmediate();
  expect(await cache.identify(credential)).toBeNull();
});

test('an unknown credential is cached too, but shorter', async () => {
  lookUp = async () => null;
  await cache.identify(credential);
  await cache.identify(credential);
  expect(lookups).toBe(1);
  now = 5_000;
  await cache.identify(credential);
  expect(lookups).toBe(2);
});

test('a failure is not cached', async () => {
  lookUp = () => Promise.reject(new Error('away'));
  await expect(cache.identify(credential)).rejects.toThrow('away');
  lookUp = async () => identity;
  expect(await cache.identify(credential)).toBe(identity);
});

test('no cached identity outlives its credential', async () => {
  lookUp = async () => ({ ...identity, expiresAt: 1_000 });
  await cache.identify(credential);
  now = 1_000;
  await cache.identify(credential);
  expect(lookups).toBe(2);
});

test.each([
  ['its token', () => cache.evictToken('tok_1'), 2],
  ['its user', () => cache.evictUser('usr_1'), 2],
  ['another token', () => cache.evictToken('tok_2'), 1],
  ['another user', () => cache.evictUser('usr_2'), 1],
])('after the eviction of %s the lookup is repeated only if it must be', async (_what, evict, questions) => {
  await cache.identify(credential);
  evict();
  await cache.identify(credential);
  expect(lookups).toBe(questions);
});

test('a response that was in flight when the token was revoked is not cached, and no other request shares it', async () => {
  const release: (() => void)[] = [];
  lookUp = () => new Promise((resolve) => release.push(() => resolve(identity)));
  const before = cache.identify(credential);
  cache.evictToken('tok_1');
  const after = cache.identify(credential);
  expect(lookups).toBe(2);
  release[0]?.();
  await before;
  lookUp = async () => null;
  cache.evictToken('tok_other');
  release[1]?.();
  await after;
  expect(await cache.identify(credential)).toBeNull();
});

test('a token and a cookie of the same text are two credentials', async () => {
  await cache.identify(credential);
  await cache.identify({ kind: 'session', secret: credential.secret });
  expect(lookups).toBe(2);
});

test('at most ten thousand credentials are cached, and those in use are kept', async () => {
  await cache.identify(credential);
  for (let i = 0; i < 10_000; i++) {
    await cache.identify({ kind: 'token', secret: `svc_${i}` });
    if (i % 100 === 0) await cache.identify(credential);
  }
  lookups = 0;
  await cache.identify(credential);
  expect(lookups).toBe(0);
  await cache.identify({ kind: 'token', secret: 'svc_0' });
  expect(lookups).toBe(1);
});
