import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/**
 * Networks that nothing in a sandbox may reach through the server: its own, private and special ones (the IANA
 * special-purpose registries, except the unused networks of documentation), and the metadata addresses of
 * clouds, which return credentials.
 */
const closed: readonly (readonly [network: string, bits: number, what: string])[] = [
  ['0.0.0.0', 8, 'this network'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade NAT'],
  ['127.0.0.0', 8, 'loopback'],
  ['168.63.129.16', 32, 'cloud metadata'],
  ['169.254.0.0', 16, 'link-local, cloud metadata'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'special'],
  ['192.88.99.0', 24, 'special'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'benchmarks'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
  ['::', 96, 'loopback, unspecified, IPv4-compatible'],
  ['::ffff:0:0', 96, 'IPv4-mapped'],
  ['64:ff9b::', 96, 'IPv4 behind NAT64'],
  ['64:ff9b:1::', 48, 'IPv4 behind NAT64'],
  ['100::', 64, 'discard'],
  ['2001::', 23, 'Teredo and special'],
  ['2002::', 16, 'IPv4 in 6to4'],
  ['fc00::', 7, 'private, cloud metadata'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'site-local'],
  ['ff00::', 8, 'multicast'],
];

// One list for each family: a shared one would check IPv4-mapped addresses by their IPv4 part.
const lists = { 4: new BlockList(), 6: new BlockList() };
const listed = new Set<string>();
closeNetworks(closed.map(([network, bits]) => `${network}/${bits}`));

/** Whether it is an address, or a network as in `203.0.113.0/24`. */
export const isNetwork = (text: string): boolean => networkOf(text) !== undefined;

/** From now on, this process takes these networks for its own, whatever they are. Leaves out other texts. */
export function closeNetworks(networks: readonly string[]): void {
  for (const text of networks) {
    const network = networkOf(text);
    if (!network || listed.has(text)) continue;
    listed.add(text);
    const { address, bits, family } = network;
    lists[family].addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
}

function networkOf(text: string): { address: string; bits: number; family: 4 | 6 } | undefined {
  const [, address = '', length] = /^([\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const family = isIP(address);
  if (family !== 4 && family !== 6) return undefined;
  const most = family === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  return bits <= most ? { address, bits, family } : undefined;
}

/** Whether an address is on the public internet, neither one of this machine nor in a network that was closed. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family !== 4 && family !== 6) return false;
  if (address.includes('%') || isOwnAddress(address)) return false;
  return !lists[family].check(address, family === 4 ? 'ipv4' : 'ipv6');
}

function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const { address: mine, family } of Object.values(networkInterfaces()).flatMap(
    (list) => list ?? [],
  )) {
    own.addAddress(mine, family === 'IPv4' ? 'ipv4' : 'ipv6');
  }
  return own.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}
