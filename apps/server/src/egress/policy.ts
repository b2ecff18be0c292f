import { hostSetIn, isInHostSet, type EgressPolicy } from '@belay/protocol';
import { packageHosts } from './package-hosts.js';

export interface EgressTarget {
  host: string;
  port: number;
}

/** The ports of a host that a policy names without one. */
const webPorts = [80, 443];

/**
 * What a connection may do: anything, or what is not an upload as far as it can be seen. A `registry` may be reached by
 * TLS, which shows nothing, and `read-only` by plain HTTP alone.
 */
export type Permission = 'any' | 'registry' | 'read-only';

/** What the policy lets a connection do, before any question to the user; undefined when it refuses it. */
export function permissionOf(
  { profile, hosts }: EgressPolicy,
  target: EgressTarget,
  hostRegistries: readonly EgressTarget[],
): Permission | undefined {
  if (profile === 'none') return undefined;
  const entries = hosts.map((entry) => entry.trim().toLowerCase());
  const readOnly = entries.flatMap((entry) => /^read-only:(?!\d+$)(.*)$/.exec(entry)?.[1] ?? []);
  if (readOnly.some((pattern) => matches(pattern, target))) return 'read-only';
  if (profile === 'open' || entries.some((pattern) => matches(pattern, target))) return 'any';
  const sets = entries.flatMap((entry) => hostSetIn(entry) ?? []);
  if (sets.some((set) => isInHostSet(set, `${target.host}:${target.port}`))) return 'registry';
  if (profile === 'list') return undefined;
  const isRegistry =
    packageHosts.some((host) => matches(host, target)) || isOneOf(hostRegistries, target);
  return isRegistry ? 'registry' : undefined;
}

export const isOneOf = (targets: readonly EgressTarget[], { host, port }: EgressTarget): boolean =>
  targets.some((one) => one.host === host && one.port === port);

/** `name` and `*.name` (its subdomains) at the web’s ports, or `name:port`, `*.name:port`. */
function matches(pattern: string, { host, port }: EgressTarget): boolean {
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  const portFits = wanted === undefined ? webPorts.includes(port) : Number(wanted) === port;
  if (!portFits) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name.replace(/\.$/, '');
}

/**
 * The one spelling of a host: lowercase letters, Punycode, no final dot, IPv4 in its usual form (`0x7f.1` is
 * 127.0.0.1), IPv6 without brackets. Undefined for what is not a host,
 * such as a name with an empty part.
 */
export function normalHost(host: string): string | undefined {
  try {
    const name = new URL(
      `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}/`,
    );
    if (name.username || name.port || name.pathname !== '/' || name.search || name.hash)
      return undefined;
    const plain = name.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const isEmpty = plain.split('.').includes('');
    return isEmpty ? undefined : plain;
  } catch {
    return undefined;
  }
}
