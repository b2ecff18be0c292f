import { StringDecoder } from 'node:string_decoder';
import { visibleText } from '@belay/protocol';
import { styles } from '../mcp/useful-output.js';

const maxLine = 1_000;
/** The limit of lines in one log; further lines are left out. */
const maxLines = 5_000;

/** Turns a program’s untrusted output into limited lines, without characters that move the cursor. */
export class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #count = 0;

  constructor(private readonly onLine: (line: string) => void) {}

  add(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.write(bytes)).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, 2 * maxLine);
    for (const line of lines) this.#emit(line);
  }

  end(): void {
    if (this.#rest) this.#emit(this.#rest);
    this.#rest = '';
  }

  #emit(line: string): void {
    this.#count += 1;
    if (this.#count > maxLines) return;
    if (this.#count === maxLines) return this.onLine('… the rest of the log is left out');
    // Text after a carriage return replaces the text before it, as in a terminal.
    const last = line.trimEnd().split('\r').at(-1) ?? '';
    this.onLine(visibleText(last.replaceAll(styles, '')).slice(0, maxLine));
  }
}
