import { randomBytes } from 'node:crypto';
import { setupPool } from '@gantry/testing';
import { createVault, parseKeyRing } from '@gantry/vault';
import { PUBLISHED_AHEAD_MINUTES, type SigningKey, selectSigningKey } from './signing-key';
import { createSigningKeys } from './signing-keys';

const pool = setupPool('worker-api');
const keys = parseKeyRing(`v1:${randomBytes(32).toString('base64')}`);
const replica = (now?: () => number) => createSigningKeys({ pool, vault: createVault({ keys, pool }), now });

beforeEach(() => pool.query('TRUNCATE signing_keys'));

const age = (kid: string, interval: string) =>
  pool.query('UPDATE signing_keys SET created_at = now() - $2::interval WHERE kid = $1', [kid, interval]);

test('replicas that start together agree on one key', async () => {
  const replicas = [replica(), replica(), replica()];
  const signers = await Promise.all(replicas.map((keysOf) => keysOf.signer()));
  expect(new Set(signers.map(({ kid }) => kid)).size).toBe(1);
});

test('after thirty days a new key is published, signs only once every verifier knows it, and the old one is removed last', async () => {
  const first = (await replica().signer()).kid;
  await age(first, '31 days');
  const rotated = replica();
  await rotated.rotate();
  const published = (await rotated.jwks()).keys.map(({ kid }) => kid);
  expect(published).toHaveLength(2);
  expect((await rotated.signer()).kid).toBe(first);

  const second = published.find((kid) => kid !== first) as string;
  await age(second, '20 minutes');
  expect((await replica().signer()).kid).toBe(second);
  expect(await replica().find(first)).toBeDefined();

  await age(second, '3 hours');
  const later = replica();
  await later.rotate();
  expect((await later.jwks()).keys.map(({ kid }) => kid)).toEqual([second]);
});

test('a key that another replica has just created is found without a restart', async () => {
  let later = 0;
  const [one, other] = [replica(() => Date.now() + later), replica()];
  const first = (await one.signer()).kid;
  await age(first, '31 days');
  await other.rotate();
  const [newest] = (await other.jwks()).keys.filter(({ kid }) => kid !== first);
  later = 6_000;
  expect(await one.find(newest?.kid ?? '')).toBeDefined();
});

test('published keys have no private part', async () => {
  const { keys: published } = await replica().jwks();
  expect(Object.keys(published[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
});

test('the very first key signs at once', () => {
  const key = { kid: 'a', createdAt: new Date(1_000_000) } as SigningKey;
  expect(selectSigningKey([key], 1_000_000)).toBe(key);
  const newer = { kid: 'b', createdAt: new Date(1_000_001) } as SigningKey;
  expect(selectSigningKey([newer, key], 1_000_002)).toBe(key);
  expect(selectSigningKey([newer, key], 1_000_001 + PUBLISHED_AHEAD_MINUTES * 60_000)).toBe(newer);
});
