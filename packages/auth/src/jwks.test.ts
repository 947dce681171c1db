import { generateKeyPairSync } from 'node:crypto';
import { remoteKeys } from './jwks';

const URL_OF_KEYS = 'http://worker-api.test/.well-known/jwks.json';
const newJwk = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
});

let published: object[];
let away: boolean;
let fetched: number;
let now: number;
let find: ReturnType<typeof remoteKeys>;
beforeEach(() => {
  published = [newJwk('one')];
  away = false;
  fetched = 0;
  now = 0;
  const fetch = async () => {
    fetched++;
    if (away) throw new TypeError('fetch failed');
    return Response.json({ keys: published });
  };
  find = remoteKeys({ url: URL_OF_KEYS, fetch: fetch as typeof globalThis.fetch, now: () => now });
});

test('keys are fetched once for many requests', async () => {
  const found = await Promise.all(Array.from({ length: 20 }, () => find('one')));
  expect(found.every(Boolean)).toBe(true);
  expect(fetched).toBe(1);
});

test('a rotated key is found by asking again', async () => {
  await find('one');
  published.push(newJwk('two'));
  now = 16_000;
  expect(await find('two')).toBeDefined();
});

test('invented key ids cause at most one fetch in fifteen seconds', async () => {
  await find('one');
  for (let i = 0; i < 100; i++) expect(await find(`invented-${i}`)).toBeUndefined();
  expect(fetched).toBe(1);
  now = 16_000;
  for (let i = 0; i < 100; i++) await find(`invented-${i}`);
  expect(fetched).toBe(2);
});

test('a key that is no longer published ends within ten minutes', async () => {
  await find('one');
  published = [newJwk('two')];
  now = 601_000;
  expect(await find('one')).toBeUndefined();
});

test('while the issuer is down known keys stay valid, and without any the lookup fails', async () => {
  away = true;
  await expect(find('one')).rejects.toThrow('fetch failed');
  away = false;
  await find('one');
  away = true;
  now = 601_000;
  expect(await find('one')).toBeDefined();
});

test('an answer that is no key set is refused', async () => {
  published = [{ kty: 'oct', k: 'c2VjcmV0', kid: 'one' }];
  await expect(find('one')).rejects.toThrow();
});
