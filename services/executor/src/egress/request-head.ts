/** Parses the head of a client's request to the proxy. */
import { isIPv6 } from 'node:net';
import { EgressRefusedError, MALFORMED } from './egress-refused-error';
import { normalizeHostName } from './host-name';

export interface PlainRequest {
  method: string;
  path: string;
  /** Path and query. */
  target: string;
  /** Lines of the head to forward. */
  headers: string[];
  forward: string;
}

/** A tunnel, or one plain request that is rewritten to origin form. */
export interface RequestHead {
  host: string;
  port: number;
  plain?: PlainRequest;
}

const METHOD = /^[A-Z][A-Z0-9_-]{0,19}$/i;

/** @throws Refused */
export function parseHead(head: string): RequestHead {
  const [requestLine = '', ...headers] = head.split('\r\n');
  const [method = '', address = '', version = ''] = requestLine.split(' ');
  if (!/^HTTP\/1\.[01]$/.test(version) || !METHOD.test(method)) throw toMalformedError('not an HTTP proxy request');
  if (method === 'CONNECT') return parseTunnel(address);
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 'http:') throw toMalformedError('only absolute http:// URLs are supported');
  const endToEndHeaders = headers.filter((header) => !/^(proxy-|connection:|keep-alive:|host:)/i.test(header));
  // One request per connection: a second one could name another host after the first one's check. The host is the
  // checked one for the same reason.
  const target = `${url.pathname}${url.search}`;
  const forward = [
    `${method} ${target} ${version}`,
    ...[`host: ${url.host}`, ...endToEndHeaders, 'connection: close', '', ''],
  ].join('\r\n');
  return {
    host: parseHost(url.hostname),
    port: Number(url.port) || 80,
    plain: { method, path: url.pathname, target, headers: endToEndHeaders, forward },
  };
}

function parseTunnel(target: string): RequestHead {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+):(\d{1,5})$/.exec(target) ?? [];
  if (!host || !(Number(port) > 0) || Number(port) > 65_535) throw toMalformedError('CONNECT requires host:port');
  return { host: parseHost(host), port: Number(port) };
}

function parseHost(text: string): string {
  const bare = text.replace(/^\[|\]$/g, '');
  const host = isIPv6(bare) ? bare.toLowerCase() : normalizeHostName(bare);
  if (!host) throw toMalformedError('not a valid host name');
  return host;
}

const toMalformedError = (message: string) => new EgressRefusedError(400, message, MALFORMED);
