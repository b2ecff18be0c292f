import { isIP } from 'node:net';
import { normalHost, type EgressTarget } from './policy.js';

/**
 * The host and port of a registry’s address. Empty for addresses that sandboxes are not offered: files, the host’s own
 * loopback, and registries with a password, which no sandbox has. `sparse+` and `git+` are prefixes of cargo and pip.
 */
export function registryTarget(address: string): EgressTarget[] {
  const text = address.replace(/^(sparse|git|registry)\+/, '');
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return [];
  const url = new URL(text);
  const host = normalHost(url.hostname);
  if (!host || url.username || url.password || isLoopback(host)) return [];
  return [{ host, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) }];
}

const isLoopback = (host: string): boolean =>
  /(^|\.)localhost$/.test(host) ||
  (isIP(host) === 4 && /^(127|0)\./.test(host)) ||
  (isIP(host) === 6 && /^::1?$|^::ffff:7f/.test(host));
