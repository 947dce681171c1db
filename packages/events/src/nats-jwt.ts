/** JWTs of NATS' decentralised authentication, version 2, signed with nkeys (Ed25519). */
import { createHash } from 'node:crypto';
import { type NKey, parseSeed, toBase32 } from './nkey';

interface Claims {
  /** The user's name in subjects. */
  name: string;
  /** Public key of the subject. */
  sub: string;
  nats: Record<string, unknown> & { type: 'operator' | 'account' | 'user' };
}

export function signJwt(issuer: NKey, { name, sub, nats }: Claims): string {
  const issued = { iat: Math.floor(Date.now() / 1000), iss: issuer.publicKey, name, sub };
  const claims = { ...issued, nats: { ...nats, version: 2 } };
  const jti = toBase32(createHash('sha512-256').update(JSON.stringify(claims)).digest());
  const body = [
    { typ: 'JWT', alg: 'ed25519-nkey' },
    { ...claims, jti },
  ]
    .map(encodePart)
    .join('.');
  return `${body}.${issuer.sign(Buffer.from(body)).toString('base64url')}`;
}

const encodePart = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Formats a credentials file for the NATS tools. */
export const formatCredentials = (jwt: string, keys: NKey): string =>
  [
    ...['-----BEGIN NATS USER JWT-----', jwt, '------END NATS USER JWT------', ''],
    ...['-----BEGIN USER NKEY SEED-----', keys.seed, '------END USER NKEY SEED------', ''],
  ].join('\n');

/** Parses a credentials file. @throws Error for anything else */
export function parseCredentials(creds: string): { jwt: string; key: NKey } {
  const [jwt] = /^[\w-]+\.[\w-]+\.[\w-]+$/m.exec(creds) ?? [];
  const [seed] = /^SU[A-Z2-7]+$/m.exec(creds) ?? [];
  if (!jwt || !seed) throw new Error('not NATS credentials: the user JWT or the seed is missing');
  return { jwt, key: parseSeed(seed) };
}

/** Decodes the user's JWT without verification: the server verifies it. */
export function decodeClaims(creds: string): { name: string; iss: string; nats: { issuer_account?: string } } {
  const [, claims = ''] = parseCredentials(creds).jwt.split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
