/**
 * Requests signed as Standard Webhooks has it, both those that we get and those that we send: HMAC-SHA-256 over
 * `<id>.<timestamp>.<body>`, so that an attacker who has only the address can neither make one nor send an old one
 * again. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '@gantry/errors';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;
/** Maximum distance of a request's timestamp from our clock, before or behind. */
const TOLERANCE_SECONDS = 300;
const WEBHOOK_ID_PATTERN = /^[\x21-\x7e]{1,256}$/;
/** Limit for one header; a sender lists one signature for each of its keys. */
const SIGNATURES_MAX = 20;

/** `whsec_` and the base64 of 32 random bytes. */
export const createSigningKey = (): string => PREFIX + randomBytes(KEY_BYTES).toString('base64');

/**
 * The headers that prove to a receiver who sent the body, which message it is and when it was sent: one signature for
 * each key, so that both the old and the new one verify while receivers change over.
 */
export function buildSignatureHeaders(
  keys: string[],
  message: { id: string; at: Date; body: string },
): Record<string, string> {
  const { id, at, body } = message;
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = keys.map((key) => `v1,${computeSignature(key, id, timestamp, body).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

interface SignedRequest {
  id: string | undefined;
  timestamp: string | undefined;
  signature: string | undefined;
  /** As it came. */
  body: Buffer;
}

/**
 * @param keys `whsec_` and base64; any of them may have signed
 * @returns the request's id
 * @throws AppError 401 saying what is missing or wrong
 */
export function verifySignature(keys: string[], { id, timestamp, signature, body }: SignedRequest, now: Date): string {
  if (!id || !timestamp || !signature) {
    throw createBadSignatureError(
      'requests to this webhook must be signed: send webhook-id, webhook-timestamp and webhook-signature',
    );
  }
  if (!WEBHOOK_ID_PATTERN.test(id))
    throw createBadSignatureError('webhook-id: must be 1 to 256 visible ASCII characters');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1_000 - seconds) <= TOLERANCE_SECONDS)) {
    throw createBadSignatureError('webhook-timestamp: must be a Unix time in seconds within five minutes of now');
  }
  const given = signature
    .split(' ')
    .slice(0, SIGNATURES_MAX)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'));
  const isGood = keys.some((key) => {
    const expected = computeSignature(key, id, timestamp, body);
    // Bounded: SIGNATURES_MAX signatures, and the two keys of a worker.
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  });
  if (!isGood) throw createBadSignatureError('webhook-signature: no signature matches this id, timestamp and body');
  return id;
}

function computeSignature(key: string, id: string, timestamp: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(key.slice(PREFIX.length), 'base64');
  return createHmac('sha256', bytes).update(`${id}.${timestamp}.`).update(body).digest();
}

const createBadSignatureError = (detail: string) => new AppError('unauthorized', 'bad_signature', detail);
