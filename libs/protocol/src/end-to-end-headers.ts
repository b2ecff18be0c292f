/** Hop-by-hop headers (RFC 9110, 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Without them, the next one on the connection would begin elsewhere in the message, or go elsewhere. */
const neverLeft = ['content-length', 'host'];

/**
 * The headers of a message, by lowercase name, that a proxy forwards: all but the hop-by-hop headers, those that the
 * message itself declares as such, and `also`.
 */
export function endToEndHeaders(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
  also: readonly string[] = [],
): Record<string, string | string[]> {
  const named = (headers['connection'] ?? [])
    .join(',')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((name) => !neverLeft.includes(name));
  const left = new Set([...hopByHop, ...named, ...also]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, values]): [string, string | string[]][] => {
      if (!values || left.has(name)) return [];
      const [first, ...others] = values;
      return [[name, first !== undefined && others.length === 0 ? first : [...values]]];
    }),
  );
}
