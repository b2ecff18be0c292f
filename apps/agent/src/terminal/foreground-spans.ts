/** Offsets of bytes, the end excluded. */
export interface Span {
  from: number;
  to: number;
}

/** The oldest ones are forgotten beyond so many: what they were about has been printed over. */
const mostSpans = 2_000;

/** What a terminal printed of commands in the foreground, with what was typed for any: the rest is of the background. */
export class ForegroundSpans {
  #spans: Span[] = [];
  #open: number | undefined;

  begin(from: number): void {
    this.#open ??= from;
  }

  end(to: number): void {
    if (this.#open === undefined) return;
    this.#spans.push({ from: this.#open, to });
    this.#open = undefined;
    if (this.#spans.length > mostSpans) this.#spans.shift();
  }

  /** What is left of a span, in order. */
  without({ from, to }: Span): Span[] {
    const open = this.#open === undefined ? [] : [{ from: this.#open, to }];
    const rest: Span[] = [];
    let next = from;
    for (const span of [...this.#spans, ...open]) {
      if (span.to <= next || span.from >= to) continue;
      if (span.from > next) rest.push({ from: next, to: span.from });
      next = span.to;
    }
    if (next < to) rest.push({ from: next, to });
    return rest;
  }
}
