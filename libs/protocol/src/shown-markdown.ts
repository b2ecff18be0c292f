import { hiddenCharacters } from './hidden-characters.js';
import { htmlTagAt, type HtmlTag } from './html-tag.js';
import { containerPrefixAt, fenceAt, nextLine } from './markdown-fence.js';
import { labelKey, linkDefinitionAt, linkTargetAt, paragraphEnd } from './markdown-links.js';

/**
 * Markdown as its page shows it: without comments, tags and definitions, links as `text (address)`, pictures as
 * `[picture: host]`, and code as it is. Where readers of Markdown differ, the text counts as not shown. `removed` counts
 * what the page hides. The result is cut after `most` characters; the time is linear.
 */
export function shownMarkdown(text: string, most: number): { text: string; removed: number } {
  return new MarkdownReader(text, most).read();
}

/** A bracket that may begin a link. */
interface OpenBracket {
  part: number;
  start: number;
  isPicture: boolean;
}

class MarkdownReader {
  readonly #parts: string[] = [];
  readonly #definitions: ReadonlyMap<string, string>;
  #brackets: OpenBracket[] = [];
  #at = 0;
  #length = 0;
  #removed = 0;
  /** Whether the line is one of a block of HTML, in which Markdown’s own marks mean nothing; `raw` goes past blank lines. */
  #html: 'none' | 'paragraph' | 'raw' = 'none';
  /** Fences before this index may be code or not. */
  #unsureBefore = 0;
  #paragraphEnd = -1;
  #lineEnd = -1;
  /** Marks that do not occur again. */
  readonly #missing = new Set<string>();
  /** The address of a link that HTML opened. */
  #link: string | undefined;

  constructor(
    private readonly text: string,
    private readonly most: number,
  ) {
    this.#definitions = definitionsIn(text);
  }

  read(): { text: string; removed: number } {
    while (this.#at < this.text.length && this.#length < this.most) this.#line();
    this.#closeLink();
    return { text: this.#parts.join('').slice(0, this.most), removed: this.#removed };
  }

  /** Reads a line, and on to the end of the line where what it began ends. */
  #line(): void {
    this.#enterLine();
    if (this.#html === 'none' && (this.#fence() || this.#definition())) return;
    while (this.#at < this.text.length && this.#length < this.most) {
      special.lastIndex = this.#at;
      const next = special.exec(this.text)?.index ?? this.text.length;
      this.#keepTo(next);
      if (next >= this.text.length) return;
      if (this.text[next] === '\n') return this.#keepTo(next + 1);
      this.#special(this.text[next] ?? '');
    }
  }

  #enterLine(): void {
    const prefix = containerPrefixAt(this.text, this.#at);
    const start = this.#at + prefix.length;
    const isBlank = start >= this.text.length || this.text[start] === '\n';
    if (isBlank) this.#brackets = [];
    if (this.#html === 'raw') return;
    if (isBlank) this.#html = 'none';
    else if (rawStart.test(this.text.slice(start, start + 12))) this.#html = 'raw';
    else if (/^<[A-Za-z/!?]/.test(this.text.slice(start, start + 2))) this.#html = 'paragraph';
  }

  #fence(): boolean {
    if (this.#at < this.#unsureBefore && containerPrefixAt(this.text, this.#at) !== '')
      return false;
    const fence = fenceAt(this.text, this.#at);
    if (fence?.surely) this.#keepTo(fence.end);
    else if (fence) this.#unsureBefore = fence.end;
    return fence?.surely === true;
  }

  #definition(): boolean {
    const start = this.#at + containerPrefixAt(this.text, this.#at).length;
    const definition = linkDefinitionAt(this.text, start);
    if (!definition) return false;
    this.#removed += 1;
    this.#at = Math.min(definition.end + 1, this.text.length);
    return true;
  }

  #special(sign: string): void {
    if (sign === '<') return this.#angle();
    if (sign === '&') return this.#entity();
    if (sign === '`') return this.#code();
    if (sign === '\\') return this.#keepTo(this.#at + (this.#html === 'none' ? 2 : 1));
    if (sign === ']') return this.#closeBracket();
    const isPicture = sign === '!';
    if (isPicture && this.text[this.#at + 1] !== '[') return this.#keepTo(this.#at + 1);
    const mark = isPicture ? '![' : '[';
    this.#at += mark.length;
    this.#brackets.push({ part: this.#parts.length, start: this.#at, isPicture });
    this.#put(mark);
  }

  #angle(): void {
    const { text } = this;
    const at = this.#at;
    if (text.startsWith('<!--', at)) return this.#drop(commentEnd(text, at));
    const other = declarations.find(([start]) => text.startsWith(start, at));
    if (other) return this.#declaration(other[1]);
    autolink.lastIndex = at;
    const address = this.#html === 'none' ? autolink.exec(text)?.[1] : undefined;
    if (address !== undefined) {
      this.#at += address.length + 2;
      return this.#put(address);
    }
    this.#tag();
  }

  #declaration(close: string): void {
    const end = this.#missing.has(close) ? -1 : this.text.indexOf(close, this.#at);
    if (end < 0) this.#missing.add(close);
    if (end >= 0) this.#drop(end + close.length);
    else if (this.#html === 'none') this.#keepTo(this.#at + 1);
    else this.#drop(this.text.length);
  }

  #tag(): void {
    const strict = this.#html === 'none';
    const limit = strict ? this.#endOfParagraph() : this.text.length;
    const tag = htmlTagAt(this.text, this.#at, { strict, limit });
    if (tag === undefined) return this.#keepTo(this.#at + 1);
    if (tag === 'open-value') return this.#drop(this.text.length);
    if (tag === 'open') return this.#drop(this.#endOfParagraph());
    this.#at = tag.end;
    if (tag.closes && rawNames.has(tag.name) && this.#html === 'raw') this.#html = 'paragraph';
    if (!tag.closes && unseen.has(tag.name)) this.#dropContent(tag.name);
    else this.#showTag(tag);
  }

  #showTag({ name, closes, attributes }: HtmlTag): void {
    if (name === 'a') {
      this.#closeLink();
      const address = attributes.get('href');
      if (!closes && address !== undefined) this.#link = address;
    } else if (name === 'img' && !closes) this.#put(pictureOf(attributes.get('src') ?? ''));
    else if (spaced.has(name)) this.#put(' ');
  }

  #dropContent(name: string): void {
    const close = new RegExp(`</${name}[\\s/>]`, 'gi');
    close.lastIndex = this.#at;
    const end = close.exec(this.text);
    this.#drop(end ? end.index : this.text.length);
  }

  #closeLink(): void {
    if (this.#link !== undefined) this.#put(` (${shownAddress(this.#link)})`);
    this.#link = undefined;
  }

  /** Characters that are written as numbers or names are as hidden as the characters themselves. */
  #entity(): void {
    entity.lastIndex = this.#at;
    const [whole = '', decimal, hex, name = ''] = entity.exec(this.text) ?? [];
    const code = decimal !== undefined ? Number(decimal) : parseInt(hex ?? '', 16);
    const isHidden =
      hiddenNames.has(name.toLowerCase()) ||
      (code <= 0x10ffff && String.fromCodePoint(code).search(hiddenCharacters) >= 0);
    if (isHidden) this.#drop(this.#at + whole.length);
    else this.#keepTo(this.#at + 1);
  }

  /** Code within a line stays as it is, unless cells of a table could come between its marks. */
  #code(): void {
    const { text } = this;
    backticks.lastIndex = this.#at;
    const marks = backticks.exec(text)?.[0] ?? '`';
    const start = this.#at + marks.length;
    if (this.#lineEnd < start) this.#lineEnd = nextLine(text, start);
    const line = text.slice(start, this.#lineEnd);
    const length = this.#html === 'none' ? closingIndex(line, marks.length) : -1;
    const content = line.slice(0, Math.max(0, length));
    const isCode = length >= 0 && !(content.includes('|') && content.includes('<'));
    this.#keepTo(isCode ? start + length + marks.length : start);
  }

  #closeBracket(): void {
    const { text } = this;
    const close = this.#at;
    const bracket = this.#brackets.pop();
    const target =
      bracket &&
      (linkTargetAt(text, close + 1, this.#endOfParagraph()) ?? this.#reference(bracket, close));
    if (!bracket || !target) return this.#keepTo(close + 1);
    this.#at = target.end;
    if (bracket.isPicture) {
      for (const part of this.#parts.splice(bracket.part)) this.#length -= part.length;
      return this.#put(pictureOf(target.address));
    }
    this.#length -= 1;
    this.#parts[bracket.part] = '';
    const address = shownAddress(target.address);
    if (text.slice(bracket.start, close) !== address) this.#put(` (${address})`);
  }

  /** `[text][label]`, `[label][]` and `[label]`. */
  #reference({ start }: OpenBracket, close: number) {
    reference.lastIndex = close + 1;
    const [whole = '', label = ''] = reference.exec(this.text) ?? [];
    if (close - start > maxLabel && label === '') return undefined;
    const key = labelKey(label === '' ? this.text.slice(start, close) : label);
    const address = this.#definitions.get(key);
    return address === undefined ? undefined : { address, end: close + 1 + whole.length };
  }

  #endOfParagraph(): number {
    if (this.#paragraphEnd < this.#at) this.#paragraphEnd = paragraphEnd(this.text, this.#at);
    return this.#paragraphEnd;
  }

  #drop(end: number): void {
    this.#removed += 1;
    this.#at = end;
  }

  #keepTo(end: number): void {
    this.#put(this.text.slice(this.#at, end));
    this.#at = Math.min(end, this.text.length);
  }

  #put(part: string): void {
    if (part === '') return;
    this.#parts.push(part);
    this.#length += part.length;
  }
}

const special = /[<&[\]!`\\\n]/g;
const backticks = /`+/y;
const rawStart = /^<(?:pre|script|style|textarea)(?:[\s>]|$)/i;
const rawNames: ReadonlySet<string> = new Set(['pre', 'script', 'style', 'textarea']);
/** What pages do not show of them is not only the tag. */
const unseen: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'title']);
const spaced: ReadonlySet<string> = new Set(
  'br p div li tr td th h1 h2 h3 h4 h5 h6 hr ul ol table summary details blockquote'.split(' '),
);
const declarations = [
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const;
const autolink = /<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]{1,2000}|[\w.+-]{1,64}@[\w.-]{1,255})>/y;
const entity = /&(?:#(\d{1,30})|#[xX]([0-9a-fA-F]{1,30})|([A-Za-z]{2,31}));?/y;
const hiddenNames: ReadonlySet<string> = new Set(
  'shy zwj zwnj zerowidthspace lrm rlm nobreak invisibletimes invisiblecomma applyfunction af ic it negativethinspace negativemediumspace negativethickspace negativeverythinspace'.split(
    ' ',
  ),
);
const maxLabel = 200;
const reference = /\[([^\][\n]{0,200})\]/y;
const definitionLine = /^[ \t>]*(?=\[)/gm;

/** By label; the first of two counts. */
function definitionsIn(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { 0: prefix, index } of text.matchAll(definitionLine)) {
    const definition = linkDefinitionAt(text, index + prefix.length);
    if (definition && !found.has(definition.label)) found.set(definition.label, definition.address);
  }
  return found;
}

/** HTML’s own rule: `<!-->` and `<!--->` are whole, and a comment without an end hides all that follows. */
function commentEnd(text: string, at: number): number {
  const empty = /^<!--(?:-?>)/.exec(text.slice(at, at + 6));
  if (empty) return at + empty[0].length;
  const end = /--!?>/g;
  end.lastIndex = at + 4;
  const found = end.exec(text);
  return found ? found.index + found[0].length : text.length;
}

/** The index of as many backticks, not more. */
function closingIndex(line: string, count: number): number {
  for (const { 0: marks, index } of line.matchAll(/`+/g)) if (marks.length === count) return index;
  return -1;
}

const shownAddress = (address: string): string => {
  const line = address.replaceAll(/\s+/g, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
};

function pictureOf(address: string): string {
  const host = /^(?:https?:)?\/\/(?:[^/?#@\s]*@)?([\w.:-]{1,100})/i.exec(address.trim())?.[1];
  return host === undefined ? '[picture]' : `[picture: ${host}]`;
}
