import { isIP } from 'node:net';
import { type AddressPolicy, createAddressPolicy } from './address-check';
import { OutboundError } from './outbound-error';

const URL_CHARS_MAX = 8192;

/**
 * Ports that browsers refuse (https://fetch.spec.whatwg.org/#port-blocking). Line-based protocols, such as SMTP and
 * IRC, skip lines they cannot parse and obey the rest: an attacker's request body would send mail from the platform's
 * address.
 */
const REFUSED_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** A URL that passed every check possible without the network. */
export interface OutboundTarget {
  url: URL;
  /** A name without trailing dot, or a literal address without brackets. */
  host: string;
  port: number;
  /** `host:port`, for messages. */
  label: string;
}

/**
 * For saving a URL: http or https, no credentials, no port of another protocol, and a literal address
 * only if it is public or in `allow`. `safeFetch` resolves and checks names on use.
 * Throws OutboundError `bad_url` or `refused_address`.
 */
export function checkOutboundUrl(url: string, { allow = [] }: { allow?: string[] } = {}): URL {
  const target = parseTarget(url);
  assertAllowedAddresses(target, listLiteralAddresses(target.host) ?? [], createAddressPolicy(allow));
  return target.url;
}

/** For a URL that `checkOutboundUrl` has passed: a literal address that is allowed only because it is in `allow`. */
export function isAllowedByOperator(url: string): boolean {
  try {
    checkOutboundUrl(url);
    return false;
  } catch {
    return true;
  }
}

export function parseTarget(text: string): OutboundTarget {
  if (text.length > URL_CHARS_MAX) throw invalidUrlError(`must have at most ${URL_CHARS_MAX} characters`);
  if (!URL.canParse(text)) throw invalidUrlError('must be an absolute http or https URL');
  // The parser normalises every spelling of an IPv4 address (octal, hexadecimal, one number) to the dotted one.
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidUrlError('must start with http:// or https://');
  if (url.username || url.password) throw invalidUrlError('must not contain a user name or password');
  // `example.com.` is the same host, but neither certificates nor SNI have the dot.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (REFUSED_PORTS.has(port)) throw invalidUrlError(`must not use port ${port}: it is reserved for another protocol`);
  return { url, host, port, label: `${url.hostname}:${port}` };
}

/** The addresses of a host that needs no resolution; `localhost` never leaves the machine (RFC 6761). */
export function listLiteralAddresses(host: string): string[] | null {
  if (isIP(host)) return [host];
  return /(^|\.)localhost$/.test(host) ? ['127.0.0.1'] : null;
}

/** One private address among public ones is a rebinding attack: all must be allowed. */
export function assertAllowedAddresses(
  { label, port }: OutboundTarget,
  addresses: string[],
  policy: AddressPolicy,
): void {
  if (addresses.every((address) => policy.isAllowed(address, port))) return;
  throw new OutboundError('refused_address', `${label} is not on the public internet`);
}

const invalidUrlError = (problem: string) => new OutboundError('bad_url', `The URL ${problem}`);
