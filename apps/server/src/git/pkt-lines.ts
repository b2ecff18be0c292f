import { AppError } from '@belay/protocol';
import { ByteReader } from '../storage/byte-reader.js';

/** The longest line of the protocol, including its four-digit length. */
const maxLine = 65_520;

/** A line’s bytes, `flush` between sections, undefined at the end. */
export type PktLine = Buffer | 'flush' | undefined;

/**
 * Reads git’s lines, which begin with their length. Throws `invalid_input` for anything else, and for an incomplete
 * line.
 */
export class PktLines {
  readonly #reader: ByteReader;

  constructor(source: AsyncIterable<Buffer>) {
    this.#reader = new ByteReader(source);
  }

  async next(): Promise<PktLine> {
    const reader = this.#reader;
    if (!(await reader.has(4))) {
      if (reader.size === 0) return undefined;
      throw notGit();
    }
    const digits = reader.peek(4).toString('latin1');
    const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length === 0) {
      reader.take(4);
      return 'flush';
    }
    if (length < 4 || length > maxLine || !(await reader.has(length))) throw notGit();
    return reader.take(length).subarray(4);
  }

  /** Like `next`, where the other side must not end yet. */
  async line(): Promise<Buffer | 'flush'> {
    const line = await this.next();
    if (line === undefined) throw notGit();
    return line;
  }
}

export const pktLine = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};

export const pktFlush = Buffer.from('0000');

export const notGit = (): AppError =>
  new AppError('invalid_input', 'There is no git server at this address. Check it.');
