import { isUnreachable } from '../shell/is-unreachable';

/** Creates an unguessable, unique key. `randomUUID` is missing where the page was loaded without TLS. */
const createIdempotencyKey = (): string => `message-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;

/**
 * Names attempts to send a message, so that the server takes it once: it may have taken one whose response was lost,
 * and the same text then has the same key.
 */
export function createIdempotencyKeyProvider() {
  let attempt = { text: '', key: '' };
  return (text: string, lastError: Error | null): string => {
    if (attempt.text !== text || !isUnreachable(lastError)) attempt = { text, key: createIdempotencyKey() };
    return attempt.key;
  };
}
