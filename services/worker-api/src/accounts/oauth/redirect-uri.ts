/** Addresses that codes may be sent to: those that a client has named before, letter by letter. */
import { AppError } from '@gantry/http';

const CHARS_MAX = 2_000;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Schemes in which a browser runs, reads or sends something instead of opening an app. */
const NO_APP =
  /^(?:javascript|data|vbscript|file|filesystem|blob|about|view-source|ftp|ws|wss|mailto|tel|sms|chrome|resource|jar|intent|content):$/;

export type Opens = 'website' | 'this_device' | 'app';

/** @throws AppError 400 */
export function requireRedirectUri(text: string): void {
  const wrong = (why: string) =>
    new AppError('invalid', 'invalid_redirect_uri', `redirect_uris: ${shown(text)} ${why}`);
  if (text.length > CHARS_MAX || !URL.canParse(text)) throw wrong('is not an absolute address');
  const url = new URL(text);
  if (text.includes('#')) throw wrong('has a fragment');
  if (url.username || url.password) throw wrong('has a user name');
  if (NO_APP.test(url.protocol)) throw wrong('opens no app');
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) throw wrong('is http, which is for loopback addresses');
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100));

/**
 * The port of a loopback address is free: a program takes whichever it gets (RFC 8252, 7.3).
 * @param registered of the client
 */
export function isRedirectOf(registered: string[], asked: string): boolean {
  return registered.includes(asked) || registered.some((one) => isSameLoopback(one, asked));
}

function isSameLoopback(registered: string, asked: string): boolean {
  if (asked.length > CHARS_MAX || !URL.canParse(asked) || asked.includes('#')) return false;
  const [one, other] = [new URL(registered), new URL(asked)];
  if (one.protocol !== 'http:' || !LOOPBACK.has(one.hostname) || other.username || other.password) return false;
  one.port = '';
  other.port = '';
  return one.href === other.href;
}

/** Tells people where their browser goes. */
export function describeRedirect(text: string): { host: string; opens: Opens } {
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { host: url.protocol.slice(0, -1), opens: 'app' };
  return { host: url.host, opens: LOOPBACK.has(url.hostname) ? 'this_device' : 'website' };
}

/** The address with these parameters beside its own. */
export function redirectWith(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.append(name, value);
  return url.href;
}
