/** Differs from the names of login cookies, which contain a port. */
const name = 'belay_preview';
const own = /^(?:__host-|__secure-)?belay_/i;
const maxHeader = 16_384;
const maxSecrets = 20;
/** The number of cookies that one response of a program may set. */
const maxSet = 50;

/** Browsers accept `Secure` cookies from their own machine, too. A frame of another site needs `None`. */
const attributes = (isSecure: boolean): string =>
  isSecure ? 'Secure; SameSite=None; Partitioned' : 'SameSite=Lax';

/** Browsers accept the prefix only with TLS. */
export function grantCookie(secret: string, origin: string, maxAgeMs: number): string {
  const prefix = origin.startsWith('https:') ? '__Host-' : '';
  const life = `Path=/; Max-Age=${maxAgeMs / 1000}; HttpOnly`;
  return `${prefix}${name}=${secret}; ${life}; ${attributes(isTrusted(origin))}`;
}

export const grantSecrets = (header = ''): string[] =>
  partsOf(header)
    .flatMap(([key, value]) => (key === name || key === `__Host-${name}` ? [value] : []))
    .slice(0, maxSecrets);

/** A browser’s cookies without the server’s own, as sent to a program. */
export const cookiesForProgram = (header: string): string | undefined =>
  partsOf(header)
    .filter(([key]) => !own.test(key))
    .map(([key, value]) => `${key}=${value}`)
    .join('; ') || undefined;

/** A program’s cookies for the browser: limited to this host, usable in a frame, and never one of the server’s. */
export const cookiesForBrowser = (set: readonly string[], isSecure: boolean): string[] =>
  set.slice(0, maxSet).flatMap((cookie) => {
    const [pair = '', ...rest] = cookie.split(';').map((part) => part.trim());
    if (own.test(pair) || !pair.includes('=')) return [];
    const kept = rest.filter((part) => !/^(domain|samesite|secure|partitioned)\b/i.test(part));
    return [[pair, ...kept, attributes(isSecure)].join('; ')];
  });

function partsOf(header: string): [string, string][] {
  return header
    .slice(0, maxHeader)
    .split(';')
    .flatMap((part): [string, string][] => {
      const at = part.indexOf('=');
      return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]];
    });
}

/** Whether browsers treat the origin as secure. */
export const isTrusted = (origin: string): boolean =>
  origin.startsWith('https:') || /\.localhost(:\d+)?$/.test(origin);
