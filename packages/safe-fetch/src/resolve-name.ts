import { Resolver } from 'node:dns/promises';

const ATTEMPT_MS = 2000;
const TRIES = 2;

/**
 * Every address of a name, IPv4 first. Asks the name servers itself and not the system: a lookup of the system can't be
 * called off and holds a thread that all lookups of the process share, so a few names whose servers keep silent would stop
 * everybody's. The hosts file and search domains don't count, either, and name nothing outside.
 * Throws what the name servers said when they said no address.
 *
 * @param servers those of the machine unless given, as `address:port`.
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
