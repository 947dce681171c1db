import { Resolver } from 'node:dns/promises';

const ATTEMPT_MS = 2000;
const TRIES = 2;

/**
 * Every address of a name, IPv4 first. Queries the name servers directly instead of through the system: a system lookup cannot
 * be cancelled and holds a thread shared by all lookups of the process, so a few names with unresponsive servers would block
 * all others. The hosts file and search domains are ignored as well, and name nothing public.
 * Throws the name servers' error if there is no address.
 *
 * @param servers default: those of the machine, as `address:port`.
 */
export async function resolveName(name: string, signal: AbortSignal, servers?: string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const families = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
    if (addresses.length === 0 && families[0].status === 'rejected') throw families[0].reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
