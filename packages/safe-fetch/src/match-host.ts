/**
 * @param pattern `api.example.com`, or `*.example.com` for every name below it, behind a colon a port
 * @param host in lower case, without a dot at its end
 * @param defaultPort the port of patterns that name none
 */
export function matchesHost(pattern: string, host: string, port: number, defaultPort: number): boolean {
  const colon = pattern.indexOf(':');
  const name = colon < 0 ? pattern : pattern.slice(0, colon);
  if (port !== (colon < 0 ? defaultPort : Number(pattern.slice(colon + 1)))) return false;
  return name.startsWith('*.') ? host.length >= name.length && host.endsWith(name.slice(1)) : host === name;
}
