const label = '[a-z0-9_](?:[a-z0-9_-]{0,62})';
const name = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*\\.?(?::\\d{1,5})?$`, 'i');
const ipv6 = /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i;

/** Whether a line of a network policy names hosts: a page’s URL or another kind of pattern does not. */
export function isHostEntry(entry: string): boolean {
  const host = entry.trim().replace(/^read-only:(?!\d+$)/i, '');
  if (host.length > 300) return false;
  return host.startsWith('@') || name.test(host) || ipv6.test(host);
}
