/** Byte offsets; the end is exclusive. */
export interface Span {
  from: number;
  to: number;
}

/** Beyond this number the oldest spans are dropped; their output is overwritten by then. */
const mostSpans = 2_000;

/**
 * The ranges of a terminal’s output that belong to foreground commands and typed input; the rest comes from background
 * commands.
 */
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

  /** The remaining parts of a span, in order. */
  without({ from, to }: Span): Span[] {
    const open = this.#open === undefined ? [] : [{ from: this.#open, to }];
    return remaining({ from, to }, [...this.#spans, ...open]);
  }
}

/** The parts of a span that others, which are in order, leave. */
export function remaining({ from, to }: Span, taken: readonly Span[]): Span[] {
  const rest: Span[] = [];
  let next = from;
  for (const span of taken) {
    if (span.to <= next || span.from >= to) continue;
    if (span.from > next) rest.push({ from: next, to: span.from });
    next = span.to;
  }
  if (next < to) rest.push({ from: next, to });
  return rest;
}
