/**
 * Signed requests as Standard Webhooks has them: HMAC-SHA-256 over `<id>.<timestamp>.<body>`, so that whoever has only
 * the address can neither make one nor send an old one again.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '@gantry/http';

/** How far a request's timestamp may lie from our clock, before or behind. */
const TOLERANCE_SECONDS = 300;
const ID = /^[\x21-\x7e]{1,256}$/;
/** Of one header; a sender lists one signature for each of its keys. */
const SIGNATURES_MAX = 20;

export interface SignedRequest {
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
export function checkSignature(keys: string[], { id, timestamp, signature, body }: SignedRequest, now: Date): string {
  if (!id || !timestamp || !signature) {
    throw refused('this webhook must be signed: send webhook-id, webhook-timestamp and webhook-signature');
  }
  if (!ID.test(id)) throw refused('webhook-id: 1 to 256 visible ASCII characters');
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now.getTime() / 1_000 - seconds) <= TOLERANCE_SECONDS)) {
    throw refused('webhook-timestamp: must be epoch seconds within five minutes of now');
  }
  const given = signature
    .split(' ')
    .slice(0, SIGNATURES_MAX)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice('v1,'.length), 'base64'));
  const isGood = keys.some((key) => {
    const expected = signatureBy(key, id, timestamp, body);
    return given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  });
  if (!isGood) throw refused('webhook-signature: none of them is right for this id, timestamp and body');
  return id;
}

function signatureBy(key: string, id: string, timestamp: string, body: Buffer): Buffer {
  const bytes = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', bytes).update(`${id}.${timestamp}.`).update(body).digest();
}

const refused = (detail: string) => new AppError('unauthorized', 'bad_signature', detail);
