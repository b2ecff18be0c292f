import { visibleText } from '@belay/protocol';
import type { Key } from 'node:readline';
import { runBinding, type KeyBindings } from './key-bindings.js';

/** The user’s input line. Pasted line breaks are kept, and shown as a symbol. */
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

  /** Whether the key had an effect here. */
  press(sign: string | undefined, key: Key): boolean {
    if (runBinding(this.#bindings, key)) return true;
    if (!sign || key.ctrl || key.meta || sign < ' ') return false;
    this.insert(sign);
    return true;
  }

  insert(text: string): void {
    this.#splice(this.#at, this.#at, text.replaceAll(/\r\n?/g, '\n'));
  }

  /** The part around the cursor that fits, and the cursor’s position in it. */
  shown(columns: number): { text: string; column: number } {
    const flat = visibleText(this.#text).replaceAll('\n', '⏎').replaceAll('\t', ' ');
    const from = Math.max(0, this.#at - columns + 1);
    return { text: flat.slice(from, from + columns), column: this.#at - from };
  }

  readonly #bindings: KeyBindings = {
    'ctrl+u': () => this.#splice(0, this.#at, ''),
    'ctrl+w': () => {
      const before = this.#text.slice(0, this.#at).replace(/\S+\s*$/, '');
      this.#splice(before.length, this.#at, '');
    },
    backspace: () => this.#splice(Math.max(0, this.#at - 1), this.#at, ''),
    delete: () => this.#splice(this.#at, this.#at + 1, ''),
    left: () => (this.#at = Math.max(0, this.#at - 1)),
    right: () => (this.#at = Math.min(this.#text.length, this.#at + 1)),
    home: () => (this.#at = 0),
    end: () => (this.#at = this.#text.length),
    'ctrl+a': () => (this.#at = 0),
    'ctrl+e': () => (this.#at = this.#text.length),
  };

  #splice(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#at = from + text.length;
  }
}
