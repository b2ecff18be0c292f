import type { Edit, JsonSpan } from './json-spans.js';

/** A value in a JSON text, for reading and replacing. */
export class SpannedText {
  constructor(
    private readonly whole: string,
    readonly span: JsonSpan | undefined,
  ) {}

  at(...names: readonly string[]): SpannedText {
    const span = names.reduce<JsonSpan | undefined>(
      (one, name) => one?.fields?.get(name),
      this.span,
    );
    return new SpannedText(this.whole, span);
  }

  get items(): SpannedText[] {
    return (this.span?.items ?? []).map((item) => new SpannedText(this.whole, item));
  }

  /** Its own text; empty if there is no such value. */
  get text(): string {
    return this.span ? this.whole.slice(this.span.start, this.span.end) : '';
  }

  /** Undefined if there is no such value. */
  get value(): unknown {
    return this.span && (JSON.parse(this.text) as unknown);
  }

  /** Replaces the value, if there is one. */
  by(json: string): Edit[] {
    return this.span ? [{ start: this.span.start, end: this.span.end, text: json }] : [];
  }

  /** Puts a text before or after the value, if there is one. */
  beside(where: 'before' | 'after', text: string): Edit[] {
    if (!this.span) return [];
    const at = where === 'before' ? this.span.start : this.span.end;
    return [{ start: at, end: at, text }];
  }
}
