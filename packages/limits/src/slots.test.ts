import type { Request } from 'express';
import { createSlots } from './slots';

const requestFrom = (ip: string, tokenId?: string) => ({ ip, ...(tokenId && { principal: { tokenId } }) }) as Request;
const getRefusal = (acquire: () => unknown) => {
  try {
    acquire();
  } catch (err) {
    return (err as { status?: number }).status;
  }
  return 'taken';
};

test('each credential and each address has its limit, and a released slot is free again', () => {
  const slots = createSlots('streams', { perCredential: 2, perAddress: 3 });
  const release = slots.acquire(requestFrom('192.0.2.1', 'tok_a'));
  slots.acquire(requestFrom('192.0.2.1', 'tok_a'));
  expect(getRefusal(() => slots.acquire(requestFrom('192.0.2.2', 'tok_a')))).toBe(429);
  slots.acquire(requestFrom('192.0.2.1', 'tok_b'));
  expect(getRefusal(() => slots.acquire(requestFrom('192.0.2.1', 'tok_c')))).toBe(429);
  expect(getRefusal(() => slots.acquire(requestFrom('192.0.2.1')))).toBe(429);
  release();
  release();
  slots.acquire(requestFrom('192.0.2.1', 'tok_a'));
  expect(getRefusal(() => slots.acquire(requestFrom('192.0.2.1', 'tok_c')))).toBe(429);
});

test('anonymous callers count by their address alone, a /64 of IPv6 as one', () => {
  const slots = createSlots('streams', { perCredential: 1, perAddress: 2 });
  slots.acquire(requestFrom('2001:db8::1'));
  slots.acquire(requestFrom('2001:db8::2'));
  expect(getRefusal(() => slots.acquire(requestFrom('2001:db8::3')))).toBe(429);
  slots.acquire(requestFrom('2001:db8:0:1::1'));
});

test('the response is 503 if all slots are taken', () => {
  const slots = createSlots('uploads', { perCredential: 1, perAddress: 1, total: 2 });
  slots.acquire(requestFrom('192.0.2.1'));
  slots.acquire(requestFrom('192.0.2.2'));
  expect(getRefusal(() => slots.acquire(requestFrom('192.0.2.3')))).toBe(503);
});
