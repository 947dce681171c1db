import { parseKeyRing } from '@gantry/vault';
import { createOpaqueToken, getDisplayPrefix, opaquePrefixes, parseOpaqueToken } from './opaque-token';
import { createTokenHasher } from './token-hash';

test.each(opaquePrefixes)('a new %s token parses, and no two are alike', (prefix) => {
  const tokens = Array.from({ length: 1_000 }, () => createOpaqueToken(prefix));
  expect(new Set(tokens).size).toBe(1_000);
  for (const token of tokens) expect(parseOpaqueToken(token)).toEqual({ prefix, token });
});

test('a typing error is detected without a lookup', () => {
  const token = createOpaqueToken('svc_');
  for (let i = 4; i < token.length; i++) {
    const typo = token.slice(0, i) + (token[i] === 'x' ? 'y' : 'x') + token.slice(i + 1);
    expect(parseOpaqueToken(typo)).toBeNull();
  }
  expect(parseOpaqueToken(token.replace('svc_', 'wst_'))).toBeNull();
});

test.each(['', 'svc_', ' ', 'svc_\u0000', `svc_${'0'.repeat(10_000)}`])('%j is no token', (text) => {
  expect(parseOpaqueToken(text)).toBeNull();
});

test('a line end or a space around a token is not part of it', () => {
  const token = createOpaqueToken('wst_');
  expect(parseOpaqueToken(`${token}\n`)).toBeNull();
  expect(parseOpaqueToken(` ${token}`)).toBeNull();
});

test('lists show only the beginning of a token, which reveals little', () => {
  const token = createOpaqueToken('svc_');
  expect(token.startsWith(getDisplayPrefix(token))).toBe(true);
  expect(getDisplayPrefix(token)).toHaveLength(9);
});

test('tokens hashed under an older pepper are still found after a new one was added', () => {
  const pepper = (version: string) => `${version}:${Buffer.alloc(32, version).toString('base64')}`;
  const before = createTokenHasher(parseKeyRing(pepper('v1')));
  const after = createTokenHasher(parseKeyRing(`${pepper('v1')},${pepper('v2')}`));
  const token = createOpaqueToken('svc_');
  const stored = before.hash(token);
  expect(after.candidates(token).some((candidate) => candidate.equals(stored.hash))).toBe(true);
  expect(after.matches(token, stored.hash)).toBe(true);
  expect(after.matches(createOpaqueToken('svc_'), stored.hash)).toBe(false);
  expect(after.hash(token)).toMatchObject({ pepperVersion: 'v2' });
  expect(after.hash(token).hash.equals(stored.hash)).toBe(false);
});
