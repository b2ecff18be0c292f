export interface ByteRange {
  from: number;
  /** The offset after the last byte. */
  to: number;
}

/**
 * The single range of a `Range` header (RFC 9110). Undefined when everything is to be sent, which includes several
 * ranges and other units; null when the range is outside the content.
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
