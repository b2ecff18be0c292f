import { visibleText } from '@belay/protocol';

/** The longest control string that is read, in bytes; the rest of a longer one is skipped. */
const longest = 4_096;
const mostCharacters = 200;

const [bell, escape, csiEnd] = [0x07, 0x1b, 0x5c];

/**
 * Finds in a terminal’s output what its program asks the user’s attention with: a bell (empty text), or a notification
 * by OSC 9 (iTerm2) or OSC 777 (urxvt). Chunks may split them. A bell that ends a control string, such as a title, is
 * none, and neither is ConEmu’s progress by OSC 9.
 */
export class AttentionSignals {
  readonly #onSignal: (text: string) => void;
  #state: 'text' | 'escape' | 'string' | 'string-escape' = 'text';
  #isCommand = false;
  #string: number[] = [];

  constructor(onSignal: (text: string) => void) {
    this.#onSignal = onSignal;
  }

  push(chunk: Uint8Array): void {
    for (const byte of chunk) this.#take(byte);
  }

  #take(byte: number): void {
    if (this.#state === 'text') {
      if (byte === bell) this.#onSignal('');
      if (byte === escape) this.#state = 'escape';
    } else if (this.#state === 'escape') this.#begin(byte);
    else if (byte === bell) this.#end();
    else if (this.#state === 'string-escape') {
      // A string ends with ESC \; another sequence breaks it off.
      if (byte === csiEnd) this.#end();
      else this.#begin(byte);
    } else if (byte === escape) this.#state = 'string-escape';
    else if (this.#string.length < longest) this.#string.push(byte);
  }

  /** Begins what follows ESC: OSC, or a string of another kind (DCS, SOS, PM, APC), in which a bell is data. */
  #begin(byte: number): void {
    this.#string = [];
    this.#isCommand = byte === 0x5d;
    const isString = this.#isCommand || [0x50, 0x58, 0x5e, 0x5f].includes(byte);
    this.#state = isString ? 'string' : byte === escape ? 'escape' : 'text';
  }

  #end(): void {
    this.#state = 'text';
    if (!this.#isCommand) return;
    const [, code = '', text = ''] =
      /^(9|777);([^]*)$/.exec(Buffer.from(this.#string).toString('utf8')) ?? [];
    if (code === '9' && !/^\d+(;|$)/.test(text)) this.#notify(text);
    if (code === '777' && text.startsWith('notify;'))
      this.#notify(text.slice('notify;'.length).replace(';', ': '));
  }

  #notify(text: string): void {
    this.#onSignal(visibleText(text).replaceAll(/\s+/g, ' ').trim().slice(0, mostCharacters));
  }
}
