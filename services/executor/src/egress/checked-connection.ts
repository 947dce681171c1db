/**
 * Connects to addresses that were checked: a name is resolved once, since a second resolution could return another
 * address.
 */
import dns from 'node:dns/promises';
import net, { isIP } from 'node:net';
import type { AddressPolicy } from '@gantry/safe-fetch';
import { EgressRefusedError, FAILED, getErrorCode } from './egress-refused-error';

const CONNECT_MS = 10_000;

/** Resolves every address of a host. @throws Refused if one of them may not be reached; without a policy all may */
export async function resolveAddresses(host: string, port: number, policy?: AddressPolicy): Promise<string[]> {
  const addresses = isIP(host) ? [host] : await lookUp(host);
  // One private address among public ones is a rebinding attack: all must be allowed.
  if (policy && !addresses.every((address) => policy.isAllowed(address, port))) {
    throw new EgressRefusedError(403, 'it is not a public address', 'not a public address');
  }
  return addresses;
}

async function lookUp(host: string): Promise<string[]> {
  try {
    return (await dns.lookup(host, { all: true })).map(({ address }) => address);
  } catch (err) {
    throw new EgressRefusedError(502, `the host name can't be resolved (${getErrorCode(err)})`, FAILED);
  }
}

/** Connects to the first address that answers. @throws Refused */
export async function connectToFirst(addresses: string[], port: number): Promise<net.Socket> {
  let last = new EgressRefusedError(502, 'it has no address', FAILED);
  for (const host of addresses) {
    try {
      return await connect(host, port);
    } catch (err) {
      last =
        err instanceof EgressRefusedError
          ? err
          : new EgressRefusedError(502, `it can't be reached (${getErrorCode(err)})`, FAILED);
    }
  }
  throw last;
}

const connect = (host: string, port: number) =>
  new Promise<net.Socket>((resolve, reject) => {
    const socket = net.connect({ host, port });
    socket.setTimeout(CONNECT_MS, () =>
      socket.destroy(new EgressRefusedError(504, `it did not respond within ${CONNECT_MS / 1_000} s`, FAILED)),
    );
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      socket.setTimeout(0);
      resolve(socket);
    });
  });
