/** `api.example.com`, or `*.example.com` for every name below it, behind a colon a port: as in a job's `allowedHosts`. */

const LITERAL_NAME = /^[a-z0-9_.-]{1,253}$/;

/** A name as patterns and certificates have it: in lower case, without the trailing dot. Null for anything but a name. */
export function plainName(host: string): string | null {
  const name = host.toLowerCase().replace(/\.$/, '');
  return LITERAL_NAME.test(name) ? name : null;
}

/**
 * @param host as plainName returns it
 * @param usualPort the port of patterns that name none
 */
export function matchesHost(pattern: string, host: string, port: number, usualPort: number): boolean {
  const colon = pattern.indexOf(':');
  const name = colon < 0 ? pattern : pattern.slice(0, colon);
  if (port !== (colon < 0 ? usualPort : Number(pattern.slice(colon + 1)))) return false;
  return name.startsWith('*.') ? host.length >= name.length && host.endsWith(name.slice(1)) : host === name;
}
