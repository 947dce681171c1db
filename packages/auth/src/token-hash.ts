/**
 * The stored form of a token: HMAC-SHA-256 under a versioned pepper that is not in the database. A token has
 * 256 random bits, so a slow hash would only cost time; the pepper makes a stolen database useless for forging rows.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@gantry/vault';
import { type OpaquePrefix, parseOpaqueToken } from './opaque-token';

export interface TokenHash {
  pepperVersion: string;
  hash: Buffer<ArrayBuffer>;
}

export type TokenHasher = ReturnType<typeof createTokenHasher>;

export function createTokenHasher(peppers: KeyRing) {
  const hashWithPepper = (pepper: Buffer, token: string) => createHmac('sha256', pepper).update(token).digest();
  const hashWithEachPepper = (token: string) =>
    [...peppers.keys.values()].map((pepper) => hashWithPepper(pepper, token));
  return {
    /** For a new token: under the current pepper. */
    hash: (token: string): TokenHash => ({
      pepperVersion: peppers.current,
      hash: hashWithPepper(peppers.keys.get(peppers.current) as Buffer, token),
    }),
    /** For a lookup: under every pepper that is still configured. */
    candidates: hashWithEachPepper,
    /** The same for a token of that kind; none for any other text. */
    candidatesForPrefix: (prefix: OpaquePrefix, text: string): Buffer<ArrayBuffer>[] =>
      parseOpaqueToken(text)?.prefix === prefix ? hashWithEachPepper(text) : [],
    /** Compares the stored hash with the presented token in constant time. */
    matches: (token: string, stored: Uint8Array): boolean =>
      hashWithEachPepper(token).some((hash) => hash.length === stored.length && timingSafeEqual(hash, stored)),
  };
}
