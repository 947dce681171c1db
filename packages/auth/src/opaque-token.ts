/**
 * Opaque tokens: `prefix + base62(32 random bytes) + base62(CRC-32)`.
 *
 * The checksum is no protection: it distinguishes a typing error, a truncated paste or a secret scanner's match from a
 * token without a lookup. The database stores a token only as an HMAC (token-hash.ts).
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const opaquePrefixes = [
  'svc_',
  'wst_',
  'ses_',
  'rly_',
  'inv_',
  'rst_',
  'vfy_',
  'dev_',
  'whk_',
  'shr_',
  'oac_',
  'oat_',
  'ort_',
] as const;
/**
 * In order: personal token, workspace token, session cookie, key of the skills surface, invitation link, password reset
 * link, address verification link, device code, webhook secret, link to a shared run, OAuth code, access token and
 * refresh token.
 */
export type OpaquePrefix = (typeof opaquePrefixes)[number];

export interface OpaqueToken {
  prefix: OpaquePrefix;
  token: string;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** ceil(256 / log2(62)) and ceil(32 / log2(62)). */
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
// Linear: fixed words and lengths between two anchors.
const SHAPE = new RegExp(
  `^(${opaquePrefixes.join('|')})([0-9A-Za-z]{${RANDOM_CHARS}})([0-9A-Za-z]{${CHECKSUM_CHARS}})$`,
);
/** Number of characters shown in lists: enough for the owner to recognise the token, 30 bits of 256. */
const DISPLAY_CHARS = 5;

export function createOpaqueToken(prefix: OpaquePrefix): string {
  const body = prefix + base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_CHARS);
  return body + checksum(body);
}

/** Null for anything that cannot be a token of the platform. */
export function parseOpaqueToken(text: string): OpaqueToken | null {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return checksum(body) === match[3] ? { prefix: match[1] as OpaquePrefix, token: text } : null;
}

/** The part of a token shown in lists. */
export const getDisplayPrefix = (token: string): string => token.slice(0, 'svc_'.length + DISPLAY_CHARS);

const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_CHARS);

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}
