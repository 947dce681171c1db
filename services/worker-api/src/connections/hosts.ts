/** Hosts that a value may go to. */
import { matchesHost } from '@gantry/safe-fetch';

const HTTPS_PORT = 443;
const HTTP_PORT = 80;

/** @param hosts those without a port are for https */
export function isAmongHosts(hosts: string[], url: string): boolean {
  const { hostname, protocol, port } = new URL(url);
  const usual = protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
  return hosts.some((host) => matchesHost(host, hostname.replace(/\.$/, ''), Number(port) || usual, HTTPS_PORT));
}
