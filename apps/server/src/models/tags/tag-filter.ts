import { CodeState } from './code-state.js';
import { readTags } from './tag-parser.js';

/** Longer held text is parsed again only after it grew by an eighth, so that long tags take linear time. */
const readAtOnce = 2_000;

/**
 * Removes tags from the text that streams to viewers: text from `{{` on is held until it is known to be a tag or not.
 */
export class TagFilter {
  #held = '';
  /** Whether something other than spaces was shown since the last newline. */
  #midLine = false;
  #code = new CodeState();
  /** Text since `#held` was found to end within a tag. */
  #later: string[] = [];
  #laterLength = 0;
  /** Whether `#later` may contain the end of a tag. */
  #closes = false;
  /** The length at which parsing again is worthwhile; 0 if the text is not known to end within a tag. */
  #worthReading = 0;

  constructor(private readonly offered: (name: string) => boolean) {}

  /** Returns the text that may be shown now. */
  push(text: string): string {
    if (text === '') return '';
    this.#closes ||= `${(this.#later.at(-1) ?? this.#held).slice(-1)}${text}`.includes('}}');
    this.#later.push(text);
    this.#laterLength += text.length;
    const length = this.#held.length + this.#laterLength;
    if (this.#worthReading > 0 && (!this.#closes || length < this.#worthReading)) return '';
    this.#takeLater();
    const start = this.#held.search(/\{\{|\{$/);
    if (start < 0) return this.#show(length);
    const close = this.#held.lastIndexOf('}}');
    if (close < start) return this.#show(start) + this.#wait(0);
    const { text: shown, tags } = this.#read(close + 2);
    // The tag may be unreadable only because its end is missing so far.
    if (tags.at(-1)?.invalid !== undefined) return this.#wait(length > readAtOnce ? length / 8 : 0);
    return this.#shown(shown, close + 2);
  }

  end(): string {
    this.#takeLater();
    return this.#shown(this.#read(this.#held.length).text, this.#held.length);
  }

  #takeLater(): void {
    this.#held += this.#later.join('');
    this.#later = [];
    this.#laterLength = 0;
    this.#closes = false;
    this.#worthReading = 0;
  }

  /** Nothing more can be shown until a tag may have ended and this much text has arrived. */
  #wait(more: number): string {
    if (this.#held.startsWith('{{')) this.#worthReading = this.#held.length + Math.max(1, more);
    return '';
  }

  #read(end: number) {
    const before = { code: this.#code, midLine: this.#midLine };
    return readTags(this.#held.slice(0, end), this.offered, before);
  }

  #show(length: number): string {
    return this.#shown(this.#held.slice(0, length), length);
  }

  #shown(text: string, length: number): string {
    this.#held = this.#held.slice(length);
    this.#code = this.#code.after(text);
    const lastLine = text.slice(text.lastIndexOf('\n') + 1);
    this.#midLine = lastLine.trim() !== '' || (this.#midLine && !text.includes('\n'));
    return text;
  }
}
