export interface ByteRange {
  from: number;
  /** The first byte that is not in it. */
  to: number;
}

/**
 * The one range that a `Range` header asks for (RFC 9110): undefined when all is to be sent, which is also the answer to
 * several ranges or another unit; null when the content has none of it.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = found ?? [];
  if (!found || (first === '' && last === '')) return undefined;
  if (first === '') {
    const from = Math.max(0, size - Number(last));
    return from < size ? { from, to: size } : null;
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return undefined;
  const to = last === '' ? size : Math.min(Number(last) + 1, size);
  return from < size ? { from, to } : null;
}
