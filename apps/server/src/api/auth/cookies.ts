const pattern = /^(?:__Host-)?belay_\d+$/;

/**
 * The name of the login’s cookie on a port. Cookies ignore ports, so servers of one machine need different names;
 * `__Host-` is for TLS alone.
 */
export const cookieName = (port: number, isSecure: boolean): string =>
  `${isSecure ? '__Host-' : ''}belay_${port}`;

/** The values of all cookies with such a name: behind a proxy the port that the browser knows is another one. */
export function loginCookies(header = ''): string[] {
  return header
    .slice(0, longest)
    .split(';')
    .flatMap((part) => {
      const [name = '', value] = part.trim().split('=', 2);
      return value && pattern.test(name) ? [value] : [];
    })
    .slice(0, most);
}

const longest = 16_384;
const most = 20;
