/**
 * NATS keys: Ed25519, encoded in base32 with a prefix for their role and a CRC-16 (XMODEM).
 * https://docs.nats.io/running-a-nats-service/nats_admin/security/jwt. Signed with Node's crypto: in pure JavaScript
 * one signature takes tens of milliseconds, and a process creates about fifty before it is connected.
 */
import { createPrivateKey, randomBytes, sign } from 'node:crypto';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const SEED = 18 << 3;
const PREFIXES = { operator: 14 << 3, account: 0, user: 20 << 3 };
const RAW_BYTES = 32;

export interface NKey {
  /** Public form: `U...` for a user. */
  publicKey: string;
  /** The secret: `SU...` for a user. */
  seed: string;
  sign(data: Buffer): Buffer;
}

export const createKey = (role: keyof typeof PREFIXES): NKey => buildKey(PREFIXES[role], randomBytes(RAW_BYTES));

/** @throws Error for anything but a seed */
export function parseSeed(seed: string): NKey {
  const bytes = fromBase32(seed.trim());
  const [body, sum] = [bytes.subarray(0, -2), bytes.subarray(-2)];
  const [first = 0, second = 0] = body;
  const isSeed = body.length === RAW_BYTES + 2 && (first & 0xf8) === SEED && sum.readUInt16LE() === crc16(body);
  if (!isSeed) throw new Error('not a NATS key seed');
  return buildKey(((first & 7) << 5) | (second >> 3), body.subarray(2));
}

function buildKey(prefix: number, raw: Buffer): NKey {
  // OpenSSL takes nine times as long to decode DER. The public key, `x`, is computed from the private one.
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: raw.toString('base64url'), x: '' };
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicRaw = Buffer.from(privateKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return {
    publicKey: encodeWithChecksum(Buffer.from([prefix]), publicRaw),
    seed: encodeWithChecksum(Buffer.from([SEED | (prefix >> 5), (prefix & 31) << 3]), raw),
    sign: (data) => sign(null, data, privateKey),
  };
}

function encodeWithChecksum(prefix: Buffer, raw: Buffer): string {
  const body = Buffer.concat([prefix, raw]);
  const sum = Buffer.alloc(2);
  sum.writeUInt16LE(crc16(body));
  return toBase32(Buffer.concat([body, sum]));
}

function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/** Encodes without padding. */
export function toBase32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
  }
  return bits ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of text) {
    const index = BASE32.indexOf(letter);
    if (index < 0) throw new Error('not base32');
    value = ((value << 5) | index) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
