import { Parser } from 'htmlparser2';

/**
 * The readable text of an HTML page: headings, lists, links with their addresses, preformatted text unchanged.
 * Tolerant like a browser, never throws; it is for reading, not for rendering. Takes time in proportion to the page.
 */
export function htmlText(html: string, base: string): string {
  const text = new ReadableText(base);
  parse(html, text);
  return text.toString();
}

/** The title of a page, if it has one. */
export function htmlTitle(html: string): string {
  let title: string | undefined;
  let inside = false;
  parse(html, {
    onopentagname: (name) => (inside = name === 'title' && title === undefined),
    ontext: (text) => {
      if (inside) title = (title ?? '') + text;
    },
    onclosetag: () => (inside = false),
  });
  return (title ?? '').replace(/\s+/g, ' ').trim();
}

function parse(html: string, handler: ConstructorParameters<typeof Parser>[0]): void {
  const parser = new Parser(handler);
  parser.write(html);
  parser.end();
}

const hidden = new Set('script style noscript svg template iframe head'.split(' '));
const blocks = new Set(
  'p div section article header footer main nav aside ul ol dl dt dd table tr form fieldset blockquote pre figure figcaption details summary h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);

interface Link {
  href: string;
  /** The piece where its text starts. */
  from: number;
}

/** Receives a page tag by tag. */
class ReadableText {
  readonly #base: string;
  readonly #pieces: string[] = [];
  #hidden = 0;
  #preformatted = 0;
  #link: Link | null = null;

  constructor(base: string) {
    this.#base = base;
  }

  onopentag(name: string, attributes: Record<string, string>): void {
    // The body is visible even if the head is not closed.
    if (name === 'body') this.#hidden = 0;
    if (hidden.has(name)) this.#hidden += 1;
    if (this.#hidden > 0) return;
    if (name === 'pre') this.#preformatted += 1;
    if (name === 'a') this.#link = this.#linkTo(attributes['href']);
    this.#add(before(name, attributes));
  }

  ontext(text: string): void {
    if (this.#hidden > 0) return;
    if (this.#preformatted > 0) return this.#add(text);
    const spaced = text.replace(/\s+/g, ' ');
    this.#add(/\s$/.test(this.#pieces.at(-1)?.slice(-1) ?? '') ? spaced.trimStart() : spaced);
  }

  onclosetag(name: string): void {
    if (hidden.has(name)) this.#hidden = Math.max(0, this.#hidden - 1);
    if (this.#hidden > 0) return;
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted - 1);
    if (name === 'a') this.#endLink();
    this.#add(after(name));
  }

  toString(): string {
    return this.#pieces
      .join('')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  }

  #add(piece: string): void {
    if (piece !== '') this.#pieces.push(piece);
  }

  #linkTo(href: string | undefined): Link | null {
    const url = href === undefined ? null : URL.parse(href, this.#base);
    const isWeb = url !== null && /^https?:$/.test(url.protocol);
    return isWeb ? { href: url.href, from: this.#pieces.length } : null;
  }

  #endLink(): void {
    if (!this.#link) return;
    const { href, from } = this.#link;
    this.#link = null;
    const label = this.#pieces.slice(from).join('');
    if (label.trim() === '') return;
    this.#pieces.length = from;
    this.#add(`${/^\s/.test(label) ? ' ' : ''}[${label.trim()}](${href})`);
  }
}

function before(name: string, attributes: Record<string, string>): string {
  if (name === 'br') return '\n';
  if (name === 'hr') return '\n---\n';
  if (name === 'li') return '\n- ';
  if (name === 'img') return attributes['alt'] ? `[image: ${attributes['alt']}]` : '';
  const level = /^h([1-6])$/.exec(name)?.[1];
  return level ? `\n\n${'#'.repeat(Number(level))} ` : around(name);
}

const after = (name: string): string => (name === 'td' || name === 'th' ? ' | ' : around(name));

function around(name: string): string {
  if (!blocks.has(name)) return '';
  return name === 'tr' || name === 'dt' || name === 'dd' ? '\n' : '\n\n';
}
