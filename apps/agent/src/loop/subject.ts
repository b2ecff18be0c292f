import { mcpSubject, mcpToolNamed, type Operation } from '@belay/protocol';

type Input = Record<string, unknown>;

/**
 * What a call is about, in one line: what rules of approval match against and what a person reads.
 * `page` is the address of the page that the browser shows, which the browser's calls are about.
 */
export function subjectOf({ name }: Operation, input: Input, page: string | null): string {
  if (mcpToolNamed(name)) return mcpSubject(input);
  if (name === 'terminal.input') return [text(input, 'text'), ...keys(input)].join(' ').trim();
  if (name === 'browser.open' || name === 'web.fetch') return endpoint(text(input, 'url'));
  if (name.startsWith('browser.')) return page === null ? '' : endpoint(page);
  for (const field of ['command', 'path', 'from', 'query', 'question', 'terminal']) {
    if (typeof input[field] === 'string') return text(input, field);
  }
  return '';
}

/** A call in words, such as `terminal.run npm test`. */
export function inWords(operation: Operation, input: Input, page: string | null = null): string {
  const subject =
    operation.name === 'browser.open' ? text(input, 'url') : subjectOf(operation, input, page);
  return oneLine(`${operation.name} ${subject}`);
}

const longest = 200;

export function oneLine(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** Host and port of an address, as egress names them; the address itself when it has none. */
function endpoint(address: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (!url?.hostname) return address;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function keys(input: Input): string[] {
  return Array.isArray(input['keys']) ? input['keys'].map((key) => `<${String(key)}>`) : [];
}

function text(input: Input, field: string): string {
  const value = input[field];
  return typeof value === 'string' ? value : '';
}
