import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from '@belay/host';
import { AppError } from '@belay/protocol';

/** Image names that may be part of a path of the engine’s API; they may come from others. */
export const imageName = /^(?!.*\.\.)[\w.:@/-]{1,500}$/;

/**
 * Throws `forbidden` for an image whose registry is at an address of this machine or of its network, which the engine
 * would ask on behalf of whoever named the image. The engine resolves the name again, and follows where the registry
 * sends it: neither can be seen from here.
 */
export async function assertOpenRegistry(image: string): Promise<void> {
  const host = registryHostOf(image);
  if (host === undefined) return;
  const isLocal = /(^|\.)localhost$/.test(host);
  if (!isLocal && (await addressesOf(host)).every(isPublicAddress)) return;
  throw new AppError(
    'forbidden',
    `Image ${image} is not on this machine, and its registry is in a private or reserved network, where none is asked. Have it pulled there first: docker pull ${image}`,
  );
}

/**
 * Nodes pull images with their own credentials and network: of registries in private networks, only those of the
 * operator’s own images are asked.
 */
export async function assertOpenRegistries(
  images: readonly string[],
  own: readonly string[],
): Promise<void> {
  const trusted = own.map(registryHostOf);
  for (const image of images)
    if (!trusted.includes(registryHostOf(image))) await assertOpenRegistry(image);
}

/** The host of the registry that an image names, in its canonical spelling; undefined for the engine’s default. */
export function registryHostOf(image: string): string | undefined {
  const [first = '', ...others] = image.split('/');
  // Docker’s rule for what is a registry, and not the first part of a path.
  const isRegistry = /[.:]/.test(first) || /^localhost$/i.test(first) || /[A-Z]/.test(first);
  if (others.length === 0 || !isRegistry) return undefined;
  // As in URLs, `0x7f.1` is 127.0.0.1.
  const host = URL.parse(`http://${first}/`)?.hostname.replace(/^\[|\]$/g, '');
  return host ?? first.replace(/:\d+$/, '').toLowerCase();
}

/** None for a name that is not known here: a proxy of the engine may know it, and has a policy of its own. */
async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host)) return [host];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}
