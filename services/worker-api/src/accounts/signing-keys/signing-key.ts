/** Lifecycle of the keys that sign access JWTs: creation, signing, removal. */
import { createPublicKey, type KeyObject } from 'node:crypto';

export interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  createdAt: Date;
}

export interface PublicJwk {
  kty: 'EC';
  crv: 'P-256';
  x: string;
  y: string;
  kid: string;
  alg: 'ES256';
  use: 'sig';
}

export const ROTATE_AFTER_DAYS = 30;
/** A new key is published this long before it signs: others may have fetched the key set just before. */
export const PUBLISHED_AHEAD_MINUTES = 15;
/** An older key stays published until the last JWT signed by it has expired, and an hour more. */
export const RETIRED_KEY_MINUTES = PUBLISHED_AHEAD_MINUTES + 120;

/** The newest key that every service can have fetched by now; the very first one signs at once. */
export function selectSigningKey(keys: SigningKey[], now: number): SigningKey | undefined {
  const byAge = [...keys].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  const published = byAge.filter((key) => now - key.createdAt.getTime() >= PUBLISHED_AHEAD_MINUTES * 60_000);
  return published.at(-1) ?? byAge[0];
}

export function toPublicJwk({ kid, privateKey }: Pick<SigningKey, 'kid' | 'privateKey'>): PublicJwk {
  const { x = '', y = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' };
}
