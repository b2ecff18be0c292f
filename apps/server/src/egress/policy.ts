import type { EgressPolicy } from '@belay/protocol';
import { packageHosts } from './registries.js';

export interface Target {
  host: string;
  port: number;
}

/** The ports of a host that a policy names without one. */
const webPorts = [80, 443];

/** Whether the policy lets a connection out, before any question to a person. */
export function isAllowed(
  policy: EgressPolicy,
  target: Target,
  hostRegistries: readonly Target[],
): boolean {
  if (policy.profile === 'none') return false;
  if (policy.profile === 'open') return true;
  if (policy.hosts.some((pattern) => matches(pattern, target))) return true;
  if (policy.profile === 'list') return false;
  return packageHosts.some((host) => matches(host, target)) || isOneOf(hostRegistries, target);
}

export const isOneOf = (targets: readonly Target[], { host, port }: Target): boolean =>
  targets.some((one) => one.host === host && one.port === port);

/** `name` and `*.name` (its subdomains) at the web’s ports, or `name:port`, `*.name:port`. */
function matches(pattern: string, { host, port }: Target): boolean {
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern.trim().toLowerCase()) ?? [];
  const portFits = wanted === undefined ? webPorts.includes(port) : Number(wanted) === port;
  if (!portFits) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name.replace(/\.$/, '');
}

/**
 * The one spelling of a host: small letters, Punycode, no final dot, IPv4 in its usual form (`0x7f.1` is
 * 127.0.0.1), IPv6 without brackets. Undefined for what is no host.
 */
export function normalHost(host: string): string | undefined {
  try {
    const name = new URL(
      `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}/`,
    );
    if (name.username || name.port || name.pathname !== '/' || name.search || name.hash)
      return undefined;
    return name.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') || undefined;
  } catch {
    return undefined;
  }
}
