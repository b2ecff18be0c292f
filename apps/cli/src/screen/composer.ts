import { visibleText } from '@belay/protocol';
import type { Key } from 'node:readline';

/** The line in which the user writes. Pasted lines stay lines, shown by a sign. */
export class Composer {
  #text = '';
  #at = 0;

  get text(): string {
    return this.#text;
  }

  take(): string {
    const text = this.#text.trim();
    this.#text = '';
    this.#at = 0;
    return text;
  }

  /** Whether the key meant something here. */
  press(sign: string | undefined, key: Key): boolean {
    const { name = '', ctrl } = key;
    if (ctrl && name === 'u') this.#splice(0, this.#at, '');
    else if (ctrl && name === 'w') {
      const before = this.#text.slice(0, this.#at).replace(/\S+\s*$/, '');
      this.#splice(before.length, this.#at, '');
    } else if (name === 'backspace') this.#splice(Math.max(0, this.#at - 1), this.#at, '');
    else if (name === 'delete') this.#splice(this.#at, this.#at + 1, '');
    else if (name === 'left') this.#at = Math.max(0, this.#at - 1);
    else if (name === 'right') this.#at = Math.min(this.#text.length, this.#at + 1);
    else if (name === 'home' || (ctrl && name === 'a')) this.#at = 0;
    else if (name === 'end' || (ctrl && name === 'e')) this.#at = this.#text.length;
    else if (sign && !ctrl && !key.meta && sign >= ' ') this.insert(sign);
    else return false;
    return true;
  }

  insert(text: string): void {
    this.#splice(this.#at, this.#at, text.replaceAll(/\r\n?/g, '\n'));
  }

  /** The part around the cursor that fits, and where the cursor is in it. */
  shown(columns: number): { text: string; column: number } {
    const flat = visibleText(this.#text).replaceAll('\n', '⏎').replaceAll('\t', ' ');
    const from = Math.max(0, this.#at - columns + 1);
    return { text: flat.slice(from, from + columns), column: this.#at - from };
  }

  #splice(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#at = from + text.length;
  }
}
