import { mcpSubject, mcpToolNamed } from '@belay/protocol';

type Input = Record<string, unknown>;

/**
 * What a call is about, in one line: what rules match against and people read. The same as the agent says,
 * but read from the input here, for what is decided must be what runs. Empty where only the agent knows it.
 */
export function subjectOf(operation: string, input: unknown): string {
  if (mcpToolNamed(operation)) return mcpSubject(input);
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Input;
  if (operation === 'terminal.input') {
    return [text(fields, 'text'), ...keys(fields)].join(' ').trim();
  }
  const url = text(fields, 'url');
  if (url) return endpoint(url);
  if (operation.startsWith('browser.')) return '';
  for (const name of ['command', 'path', 'from', 'query', 'question', 'terminal']) {
    if (typeof fields[name] === 'string') return text(fields, name);
  }
  return '';
}

/** Host and port of an address, as egress names them; the address itself when it has none. */
function endpoint(address: string): string {
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (!url?.hostname) return address;
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

function keys({ keys: pressed }: Input): string[] {
  return Array.isArray(pressed) ? pressed.map((key) => `<${String(key)}>`) : [];
}

function text(input: Input, field: string): string {
  const value = input[field];
  return typeof value === 'string' ? value : '';
}
