/** Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

/** `whsec_` and the base64 of 32 random bytes. */
export const newSigningSecret = (): string => PREFIX + randomBytes(KEY_BYTES).toString('base64');

/**
 * The headers that prove to a receiver who sent the body, which message it is and when it was sent: one signature for each
 * secret, so that both the old and the new one verify while receivers change over.
 */
export function signedHeaders(
  secrets: string[],
  message: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(message.at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${message.id}.${timestamp}.${message.body}`).digest('base64')}`;
  });
  return { 'webhook-id': message.id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
