import { AppError } from '@belay/protocol';

/** The longest line of the protocol, its four digits included. */
const maxLine = 65_520;

/** A line’s bytes, `flush` between parts, undefined at the end. */
export type PktLine = Buffer | 'flush' | undefined;

/** Reads git’s lines with their lengths before them. Throws `invalid_input` for what is none, or is cut off. */
export class PktLines {
  readonly #source: AsyncIterator<Buffer>;
  #buffer: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async next(): Promise<PktLine> {
    if (!(await this.#has(4))) {
      if (this.#buffer.length === 0) return undefined;
      throw noGit();
    }
    const digits = this.#buffer.toString('latin1', 0, 4);
    const length = /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
    if (length === 0) {
      this.#buffer = this.#buffer.subarray(4);
      return 'flush';
    }
    if (length < 4 || length > maxLine || !(await this.#has(length))) throw noGit();
    const line = this.#buffer.subarray(4, length);
    this.#buffer = this.#buffer.subarray(length);
    return line;
  }

  /** As `next`, where the other side may not end yet. */
  async line(): Promise<Buffer | 'flush'> {
    const line = await this.next();
    if (line === undefined) throw noGit();
    return line;
  }

  async #has(bytes: number): Promise<boolean> {
    if (this.#buffer.length >= bytes) return true;
    const chunks = [this.#buffer];
    let size = this.#buffer.length;
    while (size < bytes) {
      const { value, done } = await this.#source.next();
      if (done) break;
      chunks.push(value);
      size += value.length;
    }
    this.#buffer = Buffer.concat(chunks);
    return size >= bytes;
  }
}

export const pktLine = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
};

export const pktFlush = Buffer.from('0000');

export const noGit = (): AppError =>
  new AppError('invalid_input', 'The address does not answer as a git server does. Check it.');
