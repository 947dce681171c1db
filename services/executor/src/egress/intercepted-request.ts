/** Checks a request inside an intercepted tunnel, and builds the headers of the upstream request. */
import type { IncomingMessage } from 'node:http';
import type { Substitution } from './credential-substitution';
import { EgressRefusedError, MALFORMED } from './egress-refused-error';
import { assertConnectionOptions, listEndToEnd, toFields } from './header-fields';
import { normalizeHostName } from './host-name';

/**
 * Never forwarded: the client rewrites Host and lengths; compressed responses, ranges and WebSocket extensions could
 * not be searched. Apache reads Request-Range as Range, and Azure Storage the x-ms headers.
 */
const UNFORWARDED_HEADERS = new Set([
  ...['accept-encoding', 'content-length', 'expect', 'host', 'if-range', 'range', 'request-range'],
  ...['sec-websocket-extensions', 'x-ms-range', 'x-ms-range-get-content-crc64', 'x-ms-range-get-content-md5'],
]);

/**
 * The value of a credential goes to the host of the tunnel alone, and a server may serve several hosts behind one
 * certificate: nothing in the request may name another.
 * @returns path and query, in origin form. @throws Refused
 */
export function validateRequestTarget(
  request: IncomingMessage,
  host: string,
  port: number,
  serverName: unknown,
): string {
  const { rawHeaders, url = '' } = request;
  const fields = toFields(rawHeaders);
  assertConnectionOptions(fields);
  const [named, ...others] = fields.filter(({ name }) => name === 'host');
  if (!named || others.length)
    throw new EgressRefusedError(400, 'the request must have exactly one Host header', MALFORMED);
  if (!isSameAuthority(named.value, host, port)) throw createMisdirectedError('Host header');
  if (typeof serverName === 'string' && serverName !== '' && normalizeHostName(serverName) !== host)
    throw createMisdirectedError('SNI');
  const { 'transfer-encoding': transfer, 'content-length': length } = request.headers;
  if (transfer !== undefined && (transfer.toLowerCase() !== 'chunked' || length !== undefined)) {
    throw new EgressRefusedError(400, 'the length of the request is ambiguous', MALFORMED);
  }
  if (url.startsWith('/')) return url;
  const [, authority, rest] = /^https:\/\/([^/?#@\s]+)([/?][^#]*)?$/i.exec(url) ?? [];
  if (!authority) throw new EgressRefusedError(400, 'the request does not contain a path', MALFORMED);
  if (!isSameAuthority(authority, host, port)) throw createMisdirectedError('address');
  return rest?.startsWith('/') ? rest : `/${rest ?? ''}`;
}

function isSameAuthority(authority: string, host: string, port: number): boolean {
  const [, name = '', named] = /^([^:]*)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  return normalizeHostName(name) === host && (named === undefined || Number(named) === port);
}

const createMisdirectedError = (part: string) =>
  new EgressRefusedError(421, `the ${part} of the request names a different host from the tunnel`, 'misdirected');

/** Builds the headers of the upstream request, flat as undici takes them. */
export function buildUpstreamHeaders({ rawHeaders }: IncomingMessage, substitution: Substitution): string[] {
  const sent = listEndToEnd(toFields(rawHeaders)).filter(({ name }) => !UNFORWARDED_HEADERS.has(name));
  const flat = sent.flatMap(({ name, as, value }) => [as, substitution.header(name, value)]);
  return [...flat, 'Accept-Encoding', 'identity'];
}
