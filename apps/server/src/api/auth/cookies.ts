const pattern = /^(?:__Host-)?belay_\d+$/;

/**
 * The name of the login cookie for a port. Cookies ignore ports, so servers on one machine need different names;
 * `__Host-` requires TLS.
 */
export const cookieName = (port: number, isSecure: boolean): string =>
  `${isSecure ? '__Host-' : ''}belay_${port}`;

/** The values of all cookies with such a name, because behind a proxy the browser’s port differs from ours. */
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
