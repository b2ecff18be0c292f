import { METHODS } from 'node:http';

export type Protocol = 'tls' | 'http' | 'other';

/** Web servers accept no longer request lines. */
const longestLine = 8 * 1024;

/**
 * The protocol of a client’s first bytes; undefined while more bytes are needed. Empty lines and spaces before a
 * request are skipped, as web servers do.
 */
export function protocolOf(bytes: Buffer): Protocol | undefined {
  if (bytes[0] === 0x16) return bytes.length > 1 && bytes[1] !== 3 ? 'other' : 'tls';
  const text = bytes.subarray(0, longestLine).toString('latin1').trimStart();
  if (text === '') return bytes.length < longestLine ? undefined : 'other';
  const [word = '', ...more] = text.split(' ');
  const method = word.toUpperCase();
  if (more.length > 0) return methods.includes(method) || isRequestLine(text) ? 'http' : 'other';
  return methods.some((known) => known.startsWith(method)) ? undefined : 'other';
}

/** Whether a whole line is an HTTP request line, with any method. */
export const isRequestLine = (line: string): boolean =>
  / HTTP\/\d/i.test(line.split('\n')[0] ?? '');

/** `PRI` begins HTTP/2 without TLS (RFC 9113, 3.4). */
const methods = [...METHODS, 'PRI'];

/** Throws `LateRequest` when the first line of a client turns out to be an HTTP request after all. */
export class FirstLine {
  #line = '';
  #over = false;

  push(bytes: Buffer): void {
    if (this.#over) return;
    this.#line = (this.#line + bytes.toString('latin1')).trimStart().slice(0, longestLine);
    if (isRequestLine(this.#line)) throw new LateRequest();
    this.#over = this.#line.includes('\n') || this.#line.length >= longestLine;
    if (this.#over) this.#line = '';
  }
}

export class LateRequest extends Error {}
