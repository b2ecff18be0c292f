import { readTags } from './tag-parser.js';

/** Keeps tags out of the text that streams to the viewers: text waits from `{{` on until it is known what it is. */
export class TagFilter {
  private held = '';
  /** Whether something other than spaces was shown since the last newline. */
  private midLine = false;

  constructor(private readonly offered: (name: string) => boolean) {}

  /** Answers what may be shown now. */
  push(text: string): string {
    this.held += text;
    const start = this.held.search(/\{\{|\{$/);
    if (start < 0) return this.show(this.held.length);
    const close = this.held.lastIndexOf('}}');
    if (close < start) return this.show(start);
    const { text: shown, tags } = this.read(close + 2);
    // It may only be unreadable because its end is still to come.
    if (tags.at(-1)?.invalid !== undefined) return '';
    return this.shown(shown, close + 2);
  }

  end(): string {
    return this.shown(this.read(this.held.length).text, this.held.length);
  }

  private read(end: number) {
    const before = this.midLine ? '.' : '';
    const { text, tags } = readTags(before + this.held.slice(0, end), this.offered);
    return { text: text.slice(before.length), tags };
  }

  private show(length: number): string {
    return this.shown(this.held.slice(0, length), length);
  }

  private shown(text: string, length: number): string {
    this.held = this.held.slice(length);
    const lastLine = text.slice(text.lastIndexOf('\n') + 1);
    this.midLine = lastLine.trim() !== '' || (this.midLine && !text.includes('\n'));
    return text;
  }
}
