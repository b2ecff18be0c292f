import type { Scrollback } from './scrollback.js';

/**
 * The end of earlier output that is searched again, because the text may be split between two reads, and by colors.
 */
const overlap = 8_192;

/** Searches for a text in a terminal’s output from an offset on; each byte is searched when it arrives. */
export class TextSearch {
  readonly #scrollback: Scrollback;
  readonly #text: string;
  readonly #decoder = new TextDecoder();
  #at: number;
  #before = '';
  #found = false;

  constructor(scrollback: Scrollback, from: number, text: string) {
    this.#scrollback = scrollback;
    this.#text = text;
    this.#at = from;
  }

  /** Whether the text was printed, ignoring colors and carriage returns. */
  get found(): boolean {
    this.#at = Math.max(this.#at, this.#scrollback.start);
    while (!this.#found && this.#at < this.#scrollback.end) {
      const piece = this.#scrollback.piece(this.#at);
      this.#at += piece.length;
      const text = this.#before + this.#decoder.decode(piece, { stream: true });
      this.#found = text.replace(escapes, '').includes(this.#text);
      this.#before = text.slice(-overlap);
    }
    return this.#found;
  }
}

const escapes =
  // oxlint-disable-next-line no-control-regex
  /\x1b\[[0-9;:?]{0,100}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,1000}(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\r/g;
