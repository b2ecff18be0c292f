import type { EgressPolicy } from '@belay/protocol';

const source = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/;

/**
 * The content security policy that gives a page the network access of its session instead of the browser’s: its own
 * origin, and hosts that the session may use without a question. Undefined if the session may use every host.
 */
export function previewPolicy(
  { profile, hosts }: EgressPolicy,
  origin: string,
): string | undefined {
  if (profile === 'open') return undefined;
  // Read-only hosts are left out, because a page’s request could send anything.
  const named = hosts
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => profile !== 'none' && source.test(entry));
  const allowed = ["'self'", 'data:', 'blob:', ...named].join(' ');
  return [
    `default-src ${allowed} 'unsafe-inline' 'unsafe-eval'`,
    `connect-src ${allowed} ${origin.replace(/^http/, 'ws')}`,
    "form-action 'self'",
  ].join('; ');
}
