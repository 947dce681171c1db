/**
 * Tokens that mean nothing by themselves: `prefix + base62(32 random bytes) + base62(CRC-32)`.
 *
 * The checksum is no protection: it lets a typing error, a cut-off paste or a secret scanner's find be told from a token
 * without asking anybody. A token lies in the database only as an HMAC (token-hash.ts).
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const opaquePrefixes = ['svc_', 'wst_', 'ses_', 'rly_', 'inv_', 'rst_', 'vfy_', 'dev_', 'whk_'] as const;
/**
 * Personal token, workspace token, session cookie, key of the skills surface, link of an invitation, link that resets a
 * password, link that proves an address, device code, what a webhook's sender shows.
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
/** How much of a token a list shows: enough for its owner to know it, 30 bits of 256. */
const SHOWN_CHARS = 5;

export function newOpaqueToken(prefix: OpaquePrefix): string {
  const body = prefix + base62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_CHARS);
  return body + checksum(body);
}

/** Null for anything that can't be a token of ours. */
export function parseOpaqueToken(text: string): OpaqueToken | null {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return checksum(body) === match[3] ? { prefix: match[1] as OpaquePrefix, token: text } : null;
}

/** What lists show of a token. */
export const shownPrefix = (token: string): string => token.slice(0, 'svc_'.length + SHOWN_CHARS);

const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_CHARS);

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}
