import { CodeState } from './code-state.js';

/**
 * Calls written as tags in a model's text, after RunGPT: `{{name("a", 1, true, key="v")}}`.
 *
 *     tag    = "{{" name "(" [ value { "," value } ] ")" "}}"      spaces and newlines between any two tokens
 *     name   = a letter, then letters, digits, ".", "_" or "-"
 *     value  = [ key "=" ] ( string | text | number | true | false | null | JSON array | JSON object )
 *     string = as in JSON, but newlines and tabs may stand in it as they are
 *     text   = '"""' anything '"""'       nothing is escaped; a newline right after the first mark does not count
 *
 * Values without a key come first and take the input's properties in the order of its schema. A tag whose name is
 * offered counts anywhere; any other only when it begins a line, so that templates in prose stay text. In a fenced block
 * and in inline code a tag is an example, and stays text.
 */
export interface Tag {
  name: string;
  values: unknown[];
  keyed: Record<string, unknown>;
  /** Why the tag could not be parsed; `values` and `keyed` are then empty. */
  invalid?: string;
  source: string;
}

export interface TaggedText {
  /** The text without its tags. */
  text: string;
  tags: Tag[];
}

/** The context in which a text continues. */
export interface TextBefore {
  code: CodeState;
  /** Whether the text continues a line. */
  midLine: boolean;
}

const nothingBefore: TextBefore = { code: new CodeState(), midLine: false };

/** Parses a whole reply, or the continuation of `before`. */
export function readTags(
  source: string,
  offered: (name: string) => boolean,
  before = nothingBefore,
): TaggedText {
  const tags: Tag[] = [];
  let { code } = before;
  let text = '';
  let at = 0;
  for (;;) {
    const start = source.indexOf('{{', at);
    if (start < 0) return { text: text + source.slice(at), tags };
    text += source.slice(at, start);
    code = code.after(source.slice(at, start));
    const tag = code.isCode ? undefined : tagAt(source, start, { offered, before });
    if (tag) {
      tags.push(tag);
      at = start + tag.source.length;
    } else {
      text += '{{';
      code = code.after('{{');
      at = start + 2;
    }
  }
}

const opening = /\{\{\s*([A-Za-z][\w.-]*)\s*\(/y;

function tagAt(
  source: string,
  start: number,
  { offered, before }: { offered: (name: string) => boolean; before: TextBefore },
): Tag | undefined {
  opening.lastIndex = start;
  const name = opening.exec(source)?.[1];
  if (name === undefined) return undefined;
  if (!offered(name) && !beginsLine(source, start, before)) return undefined;
  const reader = new ValueReader(source, opening.lastIndex);
  try {
    const { values, keyed } = reader.list();
    return { name, values, keyed, source: source.slice(start, reader.at) };
  } catch (error) {
    if (!(error instanceof TagError)) throw error;
    const close = source.indexOf(')}}', reader.at);
    const end = close < 0 || error.isOpen ? source.length : close + 3;
    const invalid = `${error.message}, at character ${reader.at - start + 1} of the tag`;
    return { name, values: [], keyed: {}, invalid, source: source.slice(start, end) };
  }
}

/** Looks back over blanks only, so that a long line with many tags takes linear time. */
function beginsLine(source: string, start: number, { midLine }: TextBefore): boolean {
  let at = start - 1;
  while (at >= 0 && source[at] !== '\n' && /\s/.test(source[at] ?? '')) at -= 1;
  return at < 0 ? !midLine : source[at] === '\n';
}

class TagError extends Error {
  /** `isOpen`: a string or text is not closed, so the following text belongs to it. */
  constructor(
    message: string,
    readonly isOpen = false,
  ) {
    super(message);
  }
}

/** The depth of a value, equal to the contract's limit for inputs. */
const maxDepth = 64;

class ValueReader {
  #depth = 0;

  constructor(
    private readonly source: string,
    public at: number,
  ) {}

  /** Up to and including the closing `)}}`. */
  list(): { values: unknown[]; keyed: Record<string, unknown> } {
    const values: unknown[] = [];
    const keyed = new Map<string, unknown>();
    this.#skip();
    if (this.#take(')')) return this.#closed(values, keyed);
    for (;;) {
      const key = this.#match(/([A-Za-z_]\w*)\s*=\s*/y)?.[1];
      const value = this.#value();
      if (key !== undefined) keyed.set(key, value);
      else if (keyed.size > 0) throw new TagError('A value without a key follows one with a key');
      else values.push(value);
      this.#skip();
      if (this.#take(')')) return this.#closed(values, keyed);
      if (!this.#take(',')) throw new TagError('Expected , or )');
      this.#skip();
    }
  }

  #closed(values: unknown[], keyed: ReadonlyMap<string, unknown>) {
    this.#skip();
    if (!this.#take('}}')) throw new TagError('Expected }} after )');
    return { values, keyed: Object.fromEntries(keyed) };
  }

  #value(): unknown {
    const text = this.#match(/"""(?:\r?\n)?([^]*?)"""/y);
    if (text) return text[1];
    if (this.source.startsWith('"""', this.at)) throw new TagError('A text does not end', true);
    if (this.source[this.at] === '"') return this.#string();
    const number = this.#match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (number) return Number(number[0]);
    const word = this.#match(/(?:true|false|null)\b/y);
    if (word) return JSON.parse(word[0]);
    if (this.#take('[')) return this.#deeper(() => this.#items());
    if (this.#take('{')) return this.#deeper(() => this.#members());
    throw new TagError('Expected a value in JSON');
  }

  #deeper<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new TagError(`A value has more than ${maxDepth} levels`);
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #string(): string {
    const match = this.#match(/"(?:[^"\\]|\\[^])*"/y);
    if (!match) throw new TagError('A string does not end', true);
    // JSON allows none of these in a string; models write code over several lines nevertheless.
    const escaped = match[0].replace(/[\n\r\t]/g, (control) =>
      JSON.stringify(control).slice(1, -1),
    );
    try {
      return JSON.parse(escaped) as string;
    } catch {
      throw new TagError('A string holds an escape that JSON does not know');
    }
  }

  #items(): unknown[] {
    const items: unknown[] = [];
    this.#skip();
    if (this.#take(']')) return items;
    for (;;) {
      items.push(this.#value());
      this.#skip();
      if (this.#take(']')) return items;
      if (!this.#take(',')) throw new TagError('Expected , or ]');
      this.#skip();
    }
  }

  #members(): Record<string, unknown> {
    const members: [string, unknown][] = [];
    this.#skip();
    if (this.#take('}')) return {};
    for (;;) {
      if (this.source[this.at] !== '"') throw new TagError('Expected a key in quotes');
      const key = this.#string();
      this.#skip();
      if (!this.#take(':')) throw new TagError('Expected :');
      this.#skip();
      members.push([key, this.#value()]);
      this.#skip();
      if (this.#take('}')) return Object.fromEntries(members);
      if (!this.#take(',')) throw new TagError('Expected , or }');
      this.#skip();
    }
  }

  #skip(): void {
    this.#match(/\s+/y);
  }

  #take(mark: string): boolean {
    if (!this.source.startsWith(mark, this.at)) return false;
    this.at += mark.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.source);
    if (match) this.at = pattern.lastIndex;
    return match;
  }
}
