import { validateHeaderName, validateHeaderValue } from 'node:http';
import { AppError, type OperationInput, type OperationOutput } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { htmlText, htmlTitle } from './html-text.js';
import { createHttp, type HttpResponse, type HttpOptions } from './http.js';

/** The length of one page of a response, in characters. */
const pageLength = 20_000;

export type FetchPage = (
  input: OperationInput<'web.fetch'>,
  signal: AbortSignal,
) => Promise<OperationOutput<'web.fetch'>>;

/** Fetches a URL’s content as text, in pages. Throws like `createHttp`. */
export function createFetchPage(options: HttpOptions): FetchPage {
  const http = createHttp(options);
  return async (input, signal) => {
    const limit = timeLimit(input.timeout * 1000, signal);
    const answer = await http(requestOf(input), limit);
    const text = textOf(answer);
    const next = input.offset + pageLength;
    return {
      url: answer.url,
      status: answer.status,
      type: answer.type,
      text: text.slice(input.offset, next),
      next: next < text.length ? next : null,
    };
  };
}

function requestOf({ url, method, headers, body }: OperationInput<'web.fetch'>) {
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    throw new AppError(
      'invalid_input',
      `A ${method} request cannot have a body; use POST or leave the body out.`,
    );
  }
  for (const [name, value] of Object.entries(headers)) assertHeader(name, value);
  return { url, method, headers, body };
}

/** Throws `invalid_input` for a header that HTTP does not allow. */
function assertHeader(name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw new AppError(
      'invalid_input',
      `headers: ${JSON.stringify(name)} cannot be sent. A name has letters, digits and hyphens, and a value is one line of text.`,
    );
  }
}

function textOf({ url, type, bytes, truncated }: HttpResponse): string {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  if (!isText(type, bytes)) {
    return `[${bytes.length} bytes of ${type || 'an unknown type'}: not text. Download it with a command to use it.]`;
  }
  const text = decode(bytes, charset);
  const end = truncated ? '\n[The response was longer; the rest was not read.]' : '';
  if (!/html/i.test(type)) return text + end;
  const title = htmlTitle(text);
  return `${title ? `# ${title}\n\n` : ''}${htmlText(text, url)}${end}`;
}

function isText(type: string, bytes: Buffer): boolean {
  if (/^text\/|json|xml|javascript|yaml|x-www-form-urlencoded|toml/i.test(type)) return true;
  return type === '' && !bytes.subarray(0, 8_000).includes(0);
}

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
