/**
 * The readable text of an HTML page: headings, lists, links with their addresses, preformatted text as it is.
 * Forgiving like a browser, never throws; it is for reading, not for rendering.
 */
export function htmlText(html: string, base: string): string {
  const body = html.replace(hidden, ' ');
  let text = '';
  let pre = 0;
  let link: { href: string; from: number } | null = null;
  let last = 0;
  const add = (raw: string) => {
    const decoded = decodeEntities(raw);
    if (pre > 0) text += decoded;
    else
      text += /\s$/.test(text)
        ? decoded.replace(/^\s+/, '').replace(/\s+/g, ' ')
        : decoded.replace(/\s+/g, ' ');
  };
  for (const match of body.matchAll(tags)) {
    add(body.slice(last, match.index));
    last = match.index + match[0].length;
    const [, slash, tag = '', attributes = ''] = match;
    const name = tag.toLowerCase();
    const closes = slash === '/';
    if (name === 'pre') pre = Math.max(0, pre + (closes ? -1 : 1));
    if (name === 'a' && !closes) link = linkOf(attributes, base, text.length);
    else if (name === 'a' && link) {
      text = withLink(text, link);
      link = null;
    } else text += mark(name, closes, attributes);
  }
  add(body.slice(last));
  return tidy(text);
}

/** The title of a page, if it has one. */
export function htmlTitle(html: string): string {
  const title = /<title[^>]*>([^]*?)<\/title>/i.exec(html)?.[1] ?? '';
  return decodeEntities(title).replace(/\s+/g, ' ').trim();
}

const hidden =
  /<!--[^]*?-->|<(script|style|noscript|svg|template|iframe|head)\b[^>]*>[^]*?<\/\1\s*>/gi;
const tags = /<(\/?)([a-zA-Z][\w-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>|<![^>]*>/g;
const blocks = new Set(
  'p div section article header footer main nav aside ul ol dl dt dd table tr form fieldset blockquote pre figure figcaption details summary h1 h2 h3 h4 h5 h6'.split(
    ' ',
  ),
);

function mark(name: string, closes: boolean, attributes: string): string {
  if (name === 'br') return '\n';
  if (name === 'hr') return '\n---\n';
  if (name === 'li') return closes ? '' : '\n- ';
  if (name === 'td' || name === 'th') return closes ? ' | ' : '';
  if (name === 'img') {
    const alt = attribute(attributes, 'alt');
    return alt ? `[image: ${alt}]` : '';
  }
  if (!blocks.has(name)) return '';
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level && !closes) return `\n\n${'#'.repeat(Number(level))} `;
  return name === 'tr' || name === 'dt' || name === 'dd' ? '\n' : '\n\n';
}

function linkOf(
  attributes: string,
  base: string,
  from: number,
): { href: string; from: number } | null {
  const href = attribute(attributes, 'href');
  const url = href === undefined ? null : URL.parse(decodeEntities(href), base);
  return url && /^https?:$/.test(url.protocol) ? { href: url.href, from } : null;
}

function withLink(text: string, { href, from }: { href: string; from: number }): string {
  const label = text.slice(from).trim();
  if (label === '') return text;
  const space = /^\s/.test(text.slice(from)) ? ' ' : '';
  return `${text.slice(0, from)}${space}[${label}](${href})`;
}

function attribute(attributes: string, name: string): string | undefined {
  const match = new RegExp(`\\b${name}\\s*=\\s*("([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(
    attributes,
  );
  return match?.[2] ?? match?.[3] ?? match?.[4];
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  rarr: '→',
  larr: '←',
  euro: '€',
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[String(name)] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

function tidy(text: string): string {
  return text
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
