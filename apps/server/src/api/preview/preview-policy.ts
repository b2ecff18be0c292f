import type { EgressPolicy } from '@belay/protocol';

const source = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/;

/**
 * The content security policy by which a page has the network of its session, and not that of the browser that shows
 * it: its own origin, and hosts that the session may reach without a question. Undefined where it may reach all.
 */
export function previewPolicy(
  { profile, hosts }: EgressPolicy,
  origin: string,
): string | undefined {
  if (profile === 'open') return undefined;
  // A host that may only be read is none here: a page’s request for it could carry anything.
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
