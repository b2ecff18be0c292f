import { hostSetIn, isInHostSet, type EgressPolicy } from '@belay/protocol';
import { packageHosts } from './package-hosts.js';

export interface EgressTarget {
  host: string;
  port: number;
}

/** The ports that a policy’s host without a port stands for. */
const webPorts = [80, 443];

/**
 * The permissions of a connection: anything, or no uploads as far as they can be seen. A `registry` may be reached by
 * TLS, whose content is hidden; `read-only` allows only plain HTTP.
 */
export type Permission = 'any' | 'registry' | 'read-only';

/** The policy’s permission for a connection, before the user is asked; undefined when the policy refuses it. */
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

/** `name` and `*.name` (its subdomains) at the web ports, or `name:port`, `*.name:port`. */
function matches(pattern: string, { host, port }: EgressTarget): boolean {
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  const portFits = wanted === undefined ? webPorts.includes(port) : Number(wanted) === port;
  if (!portFits) return false;
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name.replace(/\.$/, '');
}

/**
 * The canonical spelling of a host: lowercase letters, Punycode, no final dot, IPv4 in its usual form (`0x7f.1` is
 * 127.0.0.1), IPv6 without brackets. Undefined for invalid hosts, such as a name with an empty part.
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
