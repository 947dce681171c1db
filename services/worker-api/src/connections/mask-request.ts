/**
 * Providers and servers repeat requests in their errors, and those are shown, audited and logged: what was sent is
 * masked in them.
 */
import { createRedactor, maskAndTruncate } from '@gantry/masking';
import type { OutboundRequest } from '@gantry/safe-fetch';

type SentRequest = Pick<OutboundRequest, 'headers' | 'body'>;

/** Fields of requests for tokens that are no secrets, and words of errors as well. */
const PUBLIC_FIELDS = new Set([
  ...['grant_type', 'redirect_uri', 'client_id', 'scope', 'resource', 'audience', 'token_type_hint'],
]);
const PUBLIC_HEADERS = new Set(['accept', 'content-type', 'content-length', 'user-agent']);
/** Errors are shorter. It bounds the time of the search. */
const ERROR_CHARS_MAX = 4_000;

export function createRequestMasker({ headers = {}, body }: SentRequest): (text: string) => string {
  return (text) =>
    maskErrorText(text, [...listHeaderValues(headers), ...(body === undefined ? [] : listFormValues(String(body)))]);
}

/** In every form that packages/masking knows. A text that is no error is left out. */
export function maskErrorText(text: string, secrets: string[]): string {
  if (text.length > ERROR_CHARS_MAX) return `${text.length} characters, omitted here`;
  // No form of a value is shorter than the value.
  return createRedactor(secrets.filter(({ length }) => length <= text.length)).text(text);
}

/** The beginning of a text, which is cut once it is masked. @param charsMax at most 1,000 */
export function maskPrefix(text: string, secrets: string[], charsMax: number): string {
  // No more of a longer value can be in what is searched.
  const beginnings = secrets.map((secret) => secret.slice(0, ERROR_CHARS_MAX + 1));
  return maskAndTruncate(createRedactor(beginnings), text, charsMax);
}

const listFormValues = (body: string): string[] =>
  [...new URLSearchParams(body)].flatMap(([name, value]) => (PUBLIC_FIELDS.has(name) ? [] : [value]));

/** Whole, and the credential of a scheme by itself. */
export function listHeaderValues(headers: NonNullable<SentRequest['headers']>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (PUBLIC_HEADERS.has(name.toLowerCase())) return [];
    const [, scheme = '', credential = value] = /^(\S+) (.+)$/.exec(value) ?? [];
    return [value, credential, ...(scheme.toLowerCase() === 'basic' ? listBasicSecrets(credential) : [])];
  });
}

/** Secrets of a Basic credential, as they are sent and as they were before they were encoded (RFC 6749, 2.3.1). */
function listBasicSecrets(credential: string): string[] {
  const text = Buffer.from(credential, 'base64').toString();
  const secret = text.slice(text.indexOf(':') + 1);
  return [text, secret, new URLSearchParams(`v=${secret}`).get('v') ?? ''];
}
