const label = '[a-z0-9_](?:[a-z0-9_-]{0,62})';
const name = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*\\.?(?::\\d{1,5})?$`, 'i');
const ipv6 = /^[\da-f]*:[\da-f:.]*:[\da-f.]*$/i;

/** Whether a line of a network policy names hosts: a page’s URL or another kind of pattern does not. */
export function isHostEntry(entry: string): boolean {
  const host = entry.trim().replace(/^read-only:(?!\d+$)/i, '');
  if (host.length > 300) return false;
  return host.startsWith('@') || name.test(host) || ipv6.test(host);
}

/** Whether a host, with a port or not, is the machine of the program that connects to it. */
export const isLoopbackHost = (host: string): boolean =>
  /^(\*\.)?((.*\.)?localhost|127(\.\d{1,3}){3}|0\.0\.0\.0)\.?(:\d{1,5})?$/i.test(host.trim()) ||
  /^\[?(::1|::)\]?(:\d{1,5})?$/.test(host.trim());

/** Programs in containers have a loopback of their own, to which the proxy does not apply. */
export const loopbackIsOwn =
  'a host other than the program’s own container: localhost and 127.0.0.1 are the container itself';
