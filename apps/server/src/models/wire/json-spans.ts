import { endOfText } from './request-body.js';

/** A value in a JSON text, with its place there. */
export interface JsonSpan {
  readonly start: number;
  /** The place after it. */
  readonly end: number;
  readonly fields?: ReadonlyMap<string, JsonSpan>;
  readonly items?: readonly JsonSpan[];
}

/** A piece of text to replace. */
export interface Edit extends Pick<JsonSpan, 'start' | 'end'> {
  text: string;
}

/** The places of all values in valid JSON. Throws `RangeError` for one that is nested too deeply. */
export function jsonSpans(text: string): JsonSpan {
  return new SpanParser(text).value();
}

/** The text with these pieces replaced, and nothing else changed. What is added at a place comes before the piece there. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let at = 0;
  let result = '';
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

class SpanParser {
  #at = 0;

  constructor(private readonly text: string) {}

  value(): JsonSpan {
    this.#skip(/\s*/y);
    const start = this.#at;
    const sign = this.text[start];
    if (sign === '{') return this.#object(start);
    if (sign === '[') return this.#list(start);
    if (sign === '"') this.#at = endOfText(this.text, start);
    else this.#skip(/[^\s,\]}]+/y);
    return { start, end: this.#at };
  }

  #object(start: number): JsonSpan {
    const fields = new Map<string, JsonSpan>();
    this.#each('}', () => {
      const name = this.value();
      this.#skip(/\s*:/y);
      fields.set(JSON.parse(this.text.slice(name.start, name.end)) as string, this.value());
    });
    return { start, end: this.#at, fields };
  }

  #list(start: number): JsonSpan {
    const items: JsonSpan[] = [];
    this.#each(']', () => items.push(this.value()));
    return { start, end: this.#at, items };
  }

  /** Reads what is between the brackets, piece by piece. */
  #each(close: string, read: () => void): void {
    this.#at += 1;
    this.#skip(/\s*/y);
    while (this.text[this.#at] !== close) {
      read();
      this.#skip(/\s*,?\s*/y);
    }
    this.#at += 1;
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    if (pattern.test(this.text)) this.#at = pattern.lastIndex;
  }
}
