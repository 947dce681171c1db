import { generateKeyPairSync } from 'node:crypto';
import { createRemoteKeyFinder } from './jwks';

const URL_OF_KEYS = 'http://worker-api.test/.well-known/jwks.json';
const createJwk = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
});

let publishedKeys: object[];
let isDown: boolean;
let fetchCount: number;
let now: number;
let find: ReturnType<typeof createRemoteKeyFinder>;
beforeEach(() => {
  publishedKeys = [createJwk('one')];
  isDown = false;
  fetchCount = 0;
  now = 0;
  const fetch = async () => {
    fetchCount++;
    if (isDown) throw new TypeError('fetch failed');
    return Response.json({ keys: publishedKeys });
  };
  find = createRemoteKeyFinder({ url: URL_OF_KEYS, fetch: fetch as typeof globalThis.fetch, now: () => now });
});

test('keys are fetched once for many requests', async () => {
  const found = await Promise.all(Array.from({ length: 20 }, () => find('one')));
  expect(found.every(Boolean)).toBe(true);
  expect(fetchCount).toBe(1);
});

test('a rotated key is found by fetching again', async () => {
  await find('one');
  publishedKeys.push(createJwk('two'));
  now = 16_000;
  expect(await find('two')).toBeDefined();
});

test('invented key ids cause at most one fetch in fifteen seconds', async () => {
  await find('one');
  for (let i = 0; i < 100; i++) expect(await find(`invented-${i}`)).toBeUndefined();
  expect(fetchCount).toBe(1);
  now = 16_000;
  for (let i = 0; i < 100; i++) await find(`invented-${i}`);
  expect(fetchCount).toBe(2);
});

test('a key that is no longer published is rejected within ten minutes', async () => {
  await find('one');
  publishedKeys = [createJwk('two')];
  now = 601_000;
  expect(await find('one')).toBeUndefined();
});

test('while the issuer is down known keys stay valid, and without any the lookup fails', async () => {
  isDown = true;
  await expect(find('one')).rejects.toThrow('fetch failed');
  isDown = false;
  await find('one');
  isDown = true;
  now = 601_000;
  expect(await find('one')).toBeDefined();
});

test('a response that is no key set is refused', async () => {
  publishedKeys = [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one' }];
  await expect(find('one')).rejects.toThrow();
});
