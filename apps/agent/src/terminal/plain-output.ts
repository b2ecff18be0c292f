const escape = 0x1b;
const newline = 0x0a;
const carriageReturn = 0x0d;

type State = 'text' | 'escape' | 'sequence' | 'string' | 'stringEscape';

/**
 * Removes control sequences from output that arrives in pieces, and writes its lines with LF. Each byte is looked at
 * once, whatever programs print; a title or another string that never ends ends with its line.
 */
export class PlainOutput {
  #state: State = 'text';
  #carriageReturn = false;
  #plain = Buffer.alloc(0);

  /** The result is valid until the next call. */
  take(bytes: Uint8Array): Buffer {
    // One more for a carriage return that was held back.
    if (this.#plain.length <= bytes.length) this.#plain = Buffer.allocUnsafe(bytes.length + 1);
    const plain = this.#plain;
    let length = 0;
    for (let at = 0; at < bytes.length; at++) {
      let byte = bytes[at];
      // Nearly all output is text, and the program that prints it waits for this.
      if (this.#state === 'text' && !this.#carriageReturn) {
        while (byte !== undefined && byte !== escape && byte !== carriageReturn) {
          plain[length++] = byte;
          byte = bytes[++at];
        }
      }
      if (byte === undefined) break;
      const isText = this.#isText(byte);
      if (this.#carriageReturn && byte !== newline) plain[length++] = carriageReturn;
      this.#carriageReturn = isText && byte === carriageReturn;
      if (isText && byte !== carriageReturn) plain[length++] = byte;
    }
    return plain.subarray(0, length);
  }

  #isText(byte: number): boolean {
    const before = this.#state;
    this.#state = next(before, byte);
    return this.#state === 'text' && (before === 'text' || byte === newline);
  }
}

function next(state: State, byte: number): State {
  if (state === 'text') return byte === escape ? 'escape' : 'text';
  if (byte === newline) return 'text';
  if (byte === escape) return state === 'string' ? 'stringEscape' : 'escape';
  if (state === 'sequence') return byte >= 0x40 && byte <= 0x7e ? 'text' : 'sequence';
  if (state === 'string') return byte === 0x07 ? 'text' : 'string';
  return state === 'stringEscape' && byte === 0x5c ? 'text' : begun(byte);
}

/** What the byte after an escape character begins. */
function begun(byte: number): State {
  if (byte === 0x5b) return 'sequence';
  if (strings.has(byte)) return 'string';
  return byte >= 0x20 && byte <= 0x2f ? 'escape' : 'text';
}

/** What begins a string: a title, a device control string and others. */
const strings = new Set(Buffer.from(']PX^_'));
