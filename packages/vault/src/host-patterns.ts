/** Parses host patterns that users enter: hosts that code may reach, or that a value may be sent to. */

import { type FieldProblem, invalid } from '@gantry/errors';
import { hostPattern } from '@gantry/events';

const PORT_MAX = 65_535;
const EXAMPLE = 'such as api.example.com, *.example.com or api.example.com:8443';

/**
 * Converts to lower case and removes the default port.
 * @returns the host with its problem, or null
 */
function parseHost(input: string): { host: string; problem: string | null } {
  const host = input.trim().toLowerCase().replace(/:443$/, '');
  const [name = '', port] = host.split(':');
  if (!hostPattern.safeParse(host).success) return { host, problem: `must be a host, ${EXAMPLE}` };
  if (port !== undefined && (Number(port) < 1 || Number(port) > PORT_MAX)) {
    return { host, problem: `has a port that is not between 1 and ${PORT_MAX}` };
  }
  if (name.startsWith('*.') && name.split('.').length < 3) {
    return {
      host,
      problem: 'matches every host in a top-level domain; add at least one more part, as in *.example.com',
    };
  }
  return { host, problem: null };
}

/** @param path of the list, for problems */
export function parseHosts(input: string[], path: string): { hosts: string[]; problems: FieldProblem[] } {
  const parsed = input.map(parseHost);
  const hosts = parsed.map(({ host }) => host);
  const problems = parsed.flatMap(({ host, problem }, index) => {
    // Bounded: 100 hosts (HOSTS_MAX of a worker's network; 20 in `Hosts` of the OpenAPI document).
    const message = problem ?? (hosts.indexOf(host) < index ? 'appears twice' : null);
    return message === null ? [] : [{ path: `${path}.${index}`, message }];
  });
  return { hosts, problems };
}

/** @throws AppError 400 naming each invalid host */
export function assertHosts(input: string[], path = 'hosts'): string[] {
  const { hosts, problems } = parseHosts(input, path);
  if (problems.length) throw invalid(problems);
  return hosts;
}
