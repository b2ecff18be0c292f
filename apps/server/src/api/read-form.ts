import type { IncomingMessage } from 'node:http';
import { AppError } from '@belay/protocol';
import { readWithin } from './read-within.js';

/** The fields of a form from a browser or an OAuth client. Throws `invalid_input` or `too_large`. */
export async function readForm(
  request: IncomingMessage,
  maxBytes: number,
): Promise<Record<string, string>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw new AppError('invalid_input', 'Send a form, as application/x-www-form-urlencoded.');
  }
  const body = await readWithin(request, maxBytes);
  return Object.fromEntries(new URLSearchParams(body.toString('utf8')));
}
