/** A tag of HTML. */
export interface HtmlTag {
  /** In lowercase letters. */
  name: string;
  closes: boolean;
  attributes: ReadonlyMap<string, string>;
  /** The index after it. */
  end: number;
}

/**
 * The tag that begins at this `<`, in linear time and without looking further than `limit`. `strict` takes only what
 * Markdown takes for a tag within a line; otherwise everything up to the `>` counts, as in a block of HTML. `open` is a tag
 * that does not end, `open-value` one whose quoted value does not end.
 */
export function htmlTagAt(
  text: string,
  at: number,
  { strict, limit }: { strict: boolean; limit: number },
): HtmlTag | 'open' | 'open-value' | undefined {
  const closes = text[at + 1] === '/';
  const start = at + (closes ? 2 : 1);
  const name = match(tagName, text, start);
  if (name === '') return undefined;
  const reader = new AttributeReader(text, start + name.length, { strict, limit });
  const end = reader.read();
  if (typeof end === 'number')
    return { name: name.toLowerCase(), closes, attributes: reader.attributes, end };
  return end;
}

class AttributeReader {
  readonly attributes = new Map<string, string>();
  readonly #strict: boolean;
  readonly #limit: number;

  constructor(
    private readonly text: string,
    private at: number,
    { strict, limit }: { strict: boolean; limit: number },
  ) {
    this.#strict = strict;
    this.#limit = limit;
  }

  /** The index after the tag. */
  read(): number | 'open' | 'open-value' | undefined {
    for (;;) {
      const spaces = this.#take(/[\s/]*/y);
      if (this.at >= this.#limit) return this.#strict ? undefined : 'open';
      if (this.text[this.at] === '>') return this.at + 1;
      const fault = this.#attribute(spaces !== '');
      if (fault === 'open-value') return this.#strict ? undefined : fault;
      if (fault === 'invalid') return undefined;
    }
  }

  #attribute(isSeparate: boolean): 'open-value' | 'invalid' | undefined {
    const name = this.#take(this.#strict ? /[A-Za-z_:][\w.:-]*/y : /=?[^\s/>=]*/y);
    if (this.#strict && (name === '' || !isSeparate)) return 'invalid';
    const before = this.at;
    this.#take(/\s*/y);
    if (this.text[this.at] !== '=') {
      // The spaces separate it from the next one.
      this.at = before;
      return undefined;
    }
    this.at += 1;
    this.#take(/\s*/y);
    return this.#value(name.toLowerCase());
  }

  #value(name: string): 'open-value' | 'invalid' | undefined {
    const quote = this.text[this.at];
    if (quote !== '"' && quote !== "'") {
      const value = this.#take(this.#strict ? /[^\s"'=<>`]+/y : /[^\s>]*/y);
      if (this.#strict && value === '') return 'invalid';
      this.#keep(name, value);
      return undefined;
    }
    const end = this.text.indexOf(quote, this.at + 1);
    if (end < 0 || end >= this.#limit) return 'open-value';
    this.#keep(name, this.text.slice(this.at + 1, end));
    this.at = end + 1;
    return undefined;
  }

  /** The first of two attributes counts. */
  #keep(name: string, value: string): void {
    if (kept.has(name) && !this.attributes.has(name)) this.attributes.set(name, value);
  }

  #take(pattern: RegExp): string {
    const taken = match(pattern, this.text, this.at);
    this.at += taken.length;
    return taken;
  }
}

const kept: ReadonlySet<string> = new Set(['href', 'src']);
const tagName = /[A-Za-z][A-Za-z0-9-]*/y;

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
