/** A request inside a tunnel whose TLS ends here: checked, and rewritten for the onward connection. */
import type { IncomingMessage } from 'node:http';
import type { Substitution } from './placeholders';
import { plainName } from './plain-name';
import { MALFORMED, Refused } from './refused';

/** Bodies up to this size are searched for placeholders; larger ones pass as they are. */
export const SEARCHED_BODY_BYTES_MAX = 1 << 20;

/** Valid for one connection only (RFC 9110, section 7.6.1), or about a body that this proxy may rewrite. */
const OWN_HEADERS = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/** Pairs of names, in lower case, and values, without those that end at this connection. */
export function* endToEnd({
  rawHeaders,
  headers,
}: IncomingMessage): Generator<[name: string, value: string, as: string]> {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/[\s,]+/));
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const as = rawHeaders[i] as string;
    const name = as.toLowerCase();
    if (!OWN_HEADERS.has(name) && !named.has(name)) yield [name, rawHeaders[i + 1] as string, as];
  }
}

/**
 * The value of a credential goes to the host of the tunnel alone, and a server may serve several hosts behind one certificate:
 * nothing in the request may name another.
 * @returns path and query, in origin form. @throws Refused
 */
export function requireSameHost(request: IncomingMessage, host: string, port: number, serverName: unknown): string {
  const { rawHeaders, url = '' } = request;
  const hosts = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new Refused(400, 'the request needs exactly one Host header', MALFORMED);
  if (!isSame(hosts[0] as string, host, port)) throw misdirected('Host header');
  if (typeof serverName === 'string' && serverName !== '' && plainName(serverName) !== host) throw misdirected('SNI');
  const { 'transfer-encoding': transfer, 'content-length': length } = request.headers;
  if (transfer !== undefined && (transfer.toLowerCase() !== 'chunked' || length !== undefined)) {
    throw new Refused(400, 'the length of the request is ambiguous', MALFORMED);
  }
  if (url.startsWith('/') || url === '*') return url;
  const [, authority, rest] = /^https:\/\/([^/?#@\s]+)([/?][^#]*)?$/i.exec(url) ?? [];
  if (!authority) throw new Refused(400, 'the request names no path', MALFORMED);
  if (!isSame(authority, host, port)) throw misdirected('address');
  return rest?.startsWith('/') ? rest : `/${rest ?? ''}`;
}

function isSame(authority: string, host: string, port: number): boolean {
  const [, name = '', named] = /^([^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  return plainName(name) === host && (named === undefined || Number(named) === port);
}

const misdirected = (part: string) =>
  new Refused(421, `the ${part} of the request names another host than the tunnel`, 'misdirected');

/**
 * Headers of the onward request, flat as Node takes them.
 * @param contentLength of a body that was rewritten
 */
export function onwardHeaders(request: IncomingMessage, substitution: Substitution, contentLength?: number): string[] {
  const flat: string[] = [];
  for (const [name, value, as] of endToEnd(request)) {
    if (name === 'accept-encoding' || name === 'expect' || name === 'sec-websocket-extensions') continue;
    if (name === 'content-length' && contentLength !== undefined) continue;
    flat.push(as, substitution.header(name, value));
  }
  // A compressed answer could not be searched as it is.
  flat.push('Accept-Encoding', 'identity');
  if (contentLength !== undefined) flat.push('Content-Length', String(contentLength));
  else if (request.headers['transfer-encoding']) flat.push('Transfer-Encoding', 'chunked');
  else if (request.headers['content-length'] === undefined && /^(POST|PUT|PATCH)$/.test(request.method ?? '')) {
    flat.push('Content-Length', '0');
  }
  return flat;
}

export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Whether the placeholders in its body can be replaced. */
export function isSearchable(request: IncomingMessage): boolean {
  const encoding = request.headers['content-encoding'];
  return (encoding === undefined || encoding === 'identity') && announcesBody(request);
}
