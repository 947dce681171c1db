/** Hosts that a value may go to, and URLs that members enter. */
import { invalid } from '@gantry/errors';
import { checkOutboundUrl, matchesHost, OutboundError } from '@gantry/safe-fetch';

const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** @param hosts those without a port are for https */
export function isAmongHosts(hosts: string[], url: string): boolean {
  const { hostname, protocol, port } = new URL(url);
  const usual = protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
  return hosts.some((host) => matchesHost(host, hostname.replace(/\.$/, ''), Number(port) || usual, HTTPS_PORT));
}

/** @throws AppError 400 with the code of packages/safe-fetch */
export function parseOutboundUrl(url: string, allow: string[]): string {
  try {
    return checkOutboundUrl(url, { allow }).href;
  } catch (err) {
    if (err instanceof OutboundError) throw invalid([{ path: 'url', message: err.message }], err.code);
    throw err;
  }
}
