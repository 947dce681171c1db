/**
 * Addresses that runs and user-supplied URLs may reach: those of the public internet, however they are
 * spelt.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';
import os from 'node:os';

// IANA special-purpose address registries (RFC 6890 and its successors).
const REFUSED_IPV4: [string, number][] = [
  ['0.0.0.0', 8], // "this network"; connects to the machine itself on Linux
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, cloud metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
  ['168.63.129.16', 32], // a cloud's host services
];
const REFUSED_IPV6: [string, number][] = [
  ['::', 128],
  ['::1', 128],
  ['::', 96], // IPv4-compatible
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23], // Teredo, ORCHID and other protocol assignments
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

export type AddressPolicy = ReturnType<typeof createAddressPolicy>;

/**
 * @param allowPrivate exceptions for operators and tests: CIDR ranges, addresses, or `address:port` (IPv6 in brackets).
 * Throws a RangeError or TypeError for anything else.
 */
export function createAddressPolicy(allowPrivate: string[] = []) {
  const refused = new BlockList();
  for (const [net, prefix] of REFUSED_IPV4) refused.addSubnet(net, prefix, 'ipv4');
  for (const [net, prefix] of REFUSED_IPV6) refused.addSubnet(net, prefix, 'ipv6');
  const exceptions = allowPrivate.map(parseAllowedRange);

  return {
    /** @param address a literal IP address, never a name. */
    isAllowed(address: string, port: number): boolean {
      const candidates = [address, ...listEmbeddedIpv4(address)];
      if (exceptions.some((allows) => allows(candidates.at(-1) ?? address, port))) return true;
      return candidates.every((one) => isIP(one) !== 0 && !refused.check(one, getFamily(one)) && !isOwnAddress(one));
    },
  };
}

const getFamily = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** The machine's own addresses change while it runs, so they are read each time. */
function isOwnAddress(address: string): boolean {
  return Object.values(os.networkInterfaces()).some((list) => list?.some((own) => isSameAddress(own.address, address)));
}

function isSameAddress(a: string, b: string): boolean {
  const list = new BlockList();
  if (getFamily(a) !== getFamily(b)) return false;
  list.addAddress(a, getFamily(a));
  return list.check(b, getFamily(b));
}

/** IPv4 addresses embedded in an IPv6 address: mapped, NAT64, 6to4. */
function listEmbeddedIpv4(address: string): string[] {
  if (!isIPv6(address)) return [];
  const groups = expandIpv6(address);
  const formatIpv4 = (high = 0, low = 0) => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  const isZeroPrefix = (count: number) => groups.slice(0, count).every((group) => group === 0);
  if (isZeroPrefix(5) && groups[5] === 0xffff) return [formatIpv4(groups[6], groups[7])];
  if (isZeroPrefix(4) && groups[4] === 0xffff && groups[5] === 0) return [formatIpv4(groups[6], groups[7])];
  if (groups[0] === 0x64 && groups[1] === 0xff9b) return [formatIpv4(groups[6], groups[7])];
  if (groups[0] === 0x2002) return [formatIpv4(groups[1], groups[2])];
  return [];
}

/** Eight 16-bit groups. */
function expandIpv6(address: string): number[] {
  const plain = (address.split('%')[0] ?? '').replace(
    /(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/,
    (_, a, b, c, d) => `${((Number(a) << 8) | Number(b)).toString(16)}:${((Number(c) << 8) | Number(d)).toString(16)}`,
  );
  const [head = '', tail] = plain.split('::');
  const parse = (part: string) => (part ? part.split(':').map((group) => Number.parseInt(group, 16)) : []);
  const front = parse(head);
  const back = tail === undefined ? [] : parse(tail);
  return [...front, ...Array(Math.max(0, 8 - front.length - back.length)).fill(0), ...back];
}

function parseAllowedRange(text: string): (address: string, port: number) => boolean {
  const [, host = text, port] = /^(\d+\.\d+\.\d+\.\d+|\[[^\]]+\]):(\d+)$/.exec(text) ?? [];
  const [net = '', prefix] = host.replace(/[[\]]/g, '').split('/');
  const list = new BlockList();
  if (prefix) list.addSubnet(net, Number(prefix), getFamily(net));
  else list.addAddress(net, getFamily(net));
  return (address, at) => (port === undefined || Number(port) === at) && list.check(address, getFamily(address));
}
