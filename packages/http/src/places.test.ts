import type { Request } from 'express';
import { places } from './places';

const from = (ip: string, tokenId?: string) => ({ ip, ...(tokenId && { principal: { tokenId } }) }) as Request;
const refused = (take: () => unknown) => {
  try {
    take();
  } catch (err) {
    return (err as { status?: number }).status;
  }
  return 'taken';
};

test('each credential and each address has its limit, and a released slot is free again', () => {
  const some = places('streams', { perCredential: 2, perAddress: 3 });
  const give = some.take(from('192.0.2.1', 'tok_a'));
  some.take(from('192.0.2.1', 'tok_a'));
  expect(refused(() => some.take(from('192.0.2.2', 'tok_a')))).toBe(429);
  some.take(from('192.0.2.1', 'tok_b'));
  expect(refused(() => some.take(from('192.0.2.1', 'tok_c')))).toBe(429);
  expect(refused(() => some.take(from('192.0.2.1')))).toBe(429);
  give();
  give();
  some.take(from('192.0.2.1', 'tok_a'));
  expect(refused(() => some.take(from('192.0.2.1', 'tok_c')))).toBe(429);
});

test('anonymous callers count by their address alone, a /64 of IPv6 as one', () => {
  const some = places('streams', { perCredential: 1, perAddress: 2 });
  some.take(from('2001:db8::1'));
  some.take(from('2001:db8::2'));
  expect(refused(() => some.take(from('2001:db8::3')))).toBe(429);
  some.take(from('2001:db8:0:1::1'));
});

test('the response is 503 if all slots are taken', () => {
  const some = places('uploads', { perCredential: 1, perAddress: 1, total: 2 });
  some.take(from('192.0.2.1'));
  some.take(from('192.0.2.2'));
  expect(refused(() => some.take(from('192.0.2.3')))).toBe(503);
});
