/** What NATS' decentralised authentication knows users by: JWTs of its version 2, signed with nkeys (Ed25519). */
import { createHash } from 'node:crypto';
import { nkeys } from 'nats';

export type KeyPair = ReturnType<typeof nkeys.fromSeed>;

interface Claims {
  /** What a user is known by in subjects. */
  name: string;
  /** Public key of whom it is about. */
  sub: string;
  nats: Record<string, unknown> & { type: 'operator' | 'account' | 'user' };
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const keysOf = (seed: string): KeyPair => nkeys.fromSeed(Buffer.from(seed.trim()));
export const seedOf = (keys: KeyPair): string => Buffer.from(keys.getSeed()).toString();

export function signJwt(issuer: KeyPair, { name, sub, nats }: Claims): string {
  const issued = { iat: Math.floor(Date.now() / 1000), iss: issuer.getPublicKey(), name, sub };
  const claims = { ...issued, nats: { ...nats, version: 2 } };
  const jti = base32(createHash('sha512-256').update(JSON.stringify(claims)).digest());
  const body = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { ...claims, jti },
  ]
    .map(encoded)
    .join('.');
  return `${body}.${Buffer.from(issuer.sign(Buffer.from(body))).toString('base64url')}`;
}

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
  }
  return bits ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

/** What NATS tools call a credentials file. */
export const credentialsOf = (jwt: string, keys: KeyPair): string =>
  [
    ...['-----BEGIN NATS USER JWT-----', jwt, '------END NATS USER JWT------', ''],
    ...['-----BEGIN USER NKEY SEED-----', seedOf(keys), '------END USER NKEY SEED------', ''],
  ].join('\n');

/** The user's JWT, read and not verified: whoever holds the credentials believes them, and the server verifies. */
export function claimsIn(creds: string): { name: string; iss: string; nats: { issuer_account?: string } } {
  const [, claims] = /^[\w-]+\.([\w-]+)\.[\w-]+$/m.exec(creds) ?? [];
  if (!claims) throw new Error('these are no NATS credentials: there is no user in them');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
