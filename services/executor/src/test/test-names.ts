/** Resolves test names to addresses of this machine's loopback network, only in this process. */
import dns from 'node:dns/promises';

/** @param addresses by name, each time; other names are resolved as usual. @returns the names resolved so far */
export function resolveTestNames(addresses: Record<string, string[] | (() => string[])>): string[] {
  const resolvedNames: string[] = [];
  const lookup = dns.lookup;
  jest.spyOn(dns, 'lookup').mockImplementation(((host: string, options: { all: true }) => {
    resolvedNames.push(host);
    const listed = addresses[host];
    const resolved = typeof listed === 'function' ? listed() : listed;
    return resolved ? Promise.resolve(resolved.map((address) => ({ address, family: 4 }))) : lookup(host, options);
  }) as never);
  return resolvedNames;
}
