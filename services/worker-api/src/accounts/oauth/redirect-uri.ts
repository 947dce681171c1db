/** Addresses that codes may be sent to: those that a client has named before, letter by letter. */
import { AppError } from '@gantry/errors';

const CHARS_MAX = 2_000;
const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/**
 * Schemes that open the app of one client: a domain of its maker, written backwards (RFC 8252, 7.1), or one of those
 * that known clients have instead. Any other may start a part of the system with a text of its sender's choice, or run
 * a script.
 */
const APP_PROTOCOL_PATTERN =
  /^(?:[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+|cursor|vscode|vscode-insiders|windsurf|zed|claude|raycast|goose):$/;

export type RedirectTarget = 'website' | 'this_device' | 'app';

/** Whether a browser may be sent there: also asked of addresses that were registered under another rule. */
export const isWebOrAppUri = (text: string): boolean =>
  URL.canParse(text) && (isHttpUrl(new URL(text)) || APP_PROTOCOL_PATTERN.test(new URL(text).protocol));

const isHttpUrl = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:';

/** @throws AppError 400 */
export function requireRedirectUri(text: string): void {
  const createInvalidUriError = (reason: string) =>
    new AppError('invalid', 'invalid_redirect_uri', `redirect_uris: ${quoteTruncated(text)} ${reason}`);
  if (text.length > CHARS_MAX || !URL.canParse(text)) throw createInvalidUriError('is not an absolute URI');
  const url = new URL(text);
  if (text.includes('#')) throw createInvalidUriError('has a fragment');
  if (url.username || url.password) throw createInvalidUriError('has a user name or password');
  if (!isWebOrAppUri(text))
    throw createInvalidUriError(
      'has a scheme without a dot; use a scheme based on a domain you own, such as com.example.app:',
    );
  if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname))
    throw createInvalidUriError('uses http, which is allowed only for loopback addresses');
}

const quoteTruncated = (text: string): string => JSON.stringify(text.slice(0, 100));

/**
 * The port of a loopback address is free: a program takes whichever it gets (RFC 8252, 7.3).
 * @param registeredUris of the client
 */
export function isRegisteredRedirect(registeredUris: string[], requestedUri: string): boolean {
  return registeredUris.includes(requestedUri) || registeredUris.some((one) => isSameLoopbackUri(one, requestedUri));
}

function isSameLoopbackUri(registeredUri: string, requestedUri: string): boolean {
  if (requestedUri.length > CHARS_MAX || !URL.canParse(requestedUri) || requestedUri.includes('#')) return false;
  const [one, other] = [new URL(registeredUri), new URL(requestedUri)];
  if (one.protocol !== 'http:' || !LOOPBACK_HOSTS.has(one.hostname) || other.username || other.password) return false;
  one.port = '';
  other.port = '';
  return one.href === other.href;
}

/** Tells people where their browser goes. */
export function describeRedirect(text: string): { host: string; opens: RedirectTarget } {
  const url = new URL(text);
  if (!isHttpUrl(url)) return { host: url.protocol.slice(0, -1), opens: 'app' };
  return { host: url.host, opens: LOOPBACK_HOSTS.has(url.hostname) ? 'this_device' : 'website' };
}

/** The address with these parameters beside its own. */
export function addQueryParameters(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.append(name, value);
  return url.href;
}
