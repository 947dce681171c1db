import { keyRing, parseKeyRing } from './index';

const key = (fill: string) => Buffer.alloc(32, fill).toString('base64');

test('the last key is current and the others still open values', () => {
  const ring = parseKeyRing(`v1:${key('a')}, v2:${key('b')}`);
  expect(ring.current).toBe('v2');
  expect([...ring.keys.keys()]).toEqual(['v1', 'v2']);
});

test.each([
  ['', 'entry 1'],
  ['v1', 'entry 1'],
  [`v1:${key('a').slice(4)}`, 'key v1 has 29 bytes'],
  [`v1:${key('a')},v1:${key('b')}`, 'v1 appears twice'],
  [`v1:${key('a')},`, 'entry 2'],
])('%j is refused with its reason', (text, reason) => {
  expect(() => parseKeyRing(text)).toThrow(reason);
});

test('a wrong key never appears in the message', () => {
  const secret = 'c2VjcmV0LXNlY3JldA==';
  const withoutVersion = 'a'.repeat(32);
  expect(JSON.stringify(keyRing.safeParse(withoutVersion).error?.issues)).not.toContain(withoutVersion);
  const parsed = keyRing.safeParse(`v1:${secret},${secret}`);
  expect(parsed.error?.issues[0]?.message).toContain('v1');
  expect(JSON.stringify(parsed.error?.issues)).not.toContain(secret);
});
