import { lookup } from 'node:dns/promises';
import type { V1Pod } from '@kubernetes/client-node';
import { closeNetworks } from '@belay/host';

/** The addresses of an API server, whose URL is given: from now on, no sandbox reaches them through this process. */
export async function closedApiAddresses(server: string): Promise<string[]> {
  const { hostname } = new URL(server);
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true });
  const addresses = found.map(({ address }) => address);
  closeNetworks(addresses);
  return addresses;
}

/** The addresses of a pod’s node, of which no sandbox reaches any through this process from now on. */
export function closedNodeAddresses({ status }: V1Pod): string[] {
  const { hostIP, hostIPs } = status ?? {};
  const addresses = (hostIPs ?? [{ ip: hostIP ?? '' }]).map(({ ip }) => ip).filter(Boolean);
  closeNetworks(addresses);
  return addresses;
}
