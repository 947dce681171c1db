/**
 * Verifies that an alert came from Gantry, signed as Standard Webhooks has it: HMAC-SHA-256 over
 * `<id>.<timestamp>.<body>`. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */

const PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;
/** Limit for one header; a sender lists one signature for each of its keys. */
const SIGNATURES_MAX = 20;

export interface SignedWebhook {
  /** `whsec_` and base64, as creating the alert showed it; several while one is replaced. */
  secret: string | string[];
  /** Headers of the request: an object of `Headers`, or names in lower case as Node has them. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** As it was received: parsed and serialized again it has other bytes. */
  body: string | Uint8Array;
  /** Default: now. */
  at?: Date;
}

/** The request is not signed, not signed by this key, or older or newer than five minutes. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
}

/**
 * @returns the id of the message, the same for each attempt to deliver it, and its time
 * @throws WebhookSignatureError that says what is missing or wrong
 */
export async function verifyWebhook(webhook: SignedWebhook): Promise<{ id: string; sentAt: Date }> {
  const id = readHeader(webhook.headers, 'webhook-id');
  const timestamp = readHeader(webhook.headers, 'webhook-timestamp');
  const signature = readHeader(webhook.headers, 'webhook-signature');
  if (!id || !timestamp || !signature) {
    throw new WebhookSignatureError('webhook-id, webhook-timestamp or webhook-signature is missing');
  }
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  const now = (webhook.at ?? new Date()).getTime() / 1_000;
  if (!(Math.abs(now - seconds) <= TOLERANCE_SECONDS)) {
    throw new WebhookSignatureError('webhook-timestamp is not within five minutes of the current time');
  }
  const body = typeof webhook.body === 'string' ? new TextEncoder().encode(webhook.body) : webhook.body;
  const message = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), body);
  const signatures = signature
    .split(' ')
    .slice(0, SIGNATURES_MAX)
    .filter((one) => one.startsWith('v1,'));
  for (const secret of [webhook.secret].flat()) {
    const key = await importKey(secret);
    for (const one of signatures) {
      const bytes = decodeBase64(one.slice('v1,'.length));
      // Web Crypto compares in constant time.
      if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, message))) {
        return { id, sentAt: new Date(seconds * 1_000) };
      }
    }
  }
  throw new WebhookSignatureError('webhook-signature does not match this id, timestamp and body');
}

function readHeader(headers: SignedWebhook['headers'], name: string): string | undefined {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? undefined;
}

function importKey(secret: string) {
  const bytes = secret.startsWith(PREFIX) ? decodeBase64(secret.slice(PREFIX.length)) : null;
  if (!bytes?.length) throw new WebhookSignatureError('the secret is not whsec_ followed by base64');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** @returns null where it is no base64 */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

function concatenate(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}
