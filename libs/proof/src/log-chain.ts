import { hash } from 'node:crypto';

/** The stored values that a record’s content covers, in this order, as their columns are named. */
export const chainFields = [
  'session',
  'seq',
  'time',
  'source',
  'action',
  'args',
  'message',
  'call',
  'epoch',
  'n',
] as const;

/** The name of the construction, which statements give and every digest includes. */
export const chainAlgorithm = 'belay-log-1';

type Value = string | number | null;

/** The digest before a log’s first record; like all of them, SHA-256 in hexadecimal. */
export const chainStart = (session: string, created: string): string =>
  hash('sha256', `${chainAlgorithm}\0${netstrings([session, created])}`, 'hex');

/** Of the values of `chainFields` as they are stored: a log can be published without them and keep its chain. */
export const contentDigest = (values: readonly Value[]): string =>
  hash('sha256', netstrings(values), 'hex');

/** The digest of the record with this content that follows the one with the digest `previous`. */
export const chainDigest = (previous: string, content: string): string =>
  hash('sha256', Buffer.from(prefix + previous + content, 'hex'), 'hex');

const prefix = Buffer.from(`${chainAlgorithm}\0`).toString('hex');

/** `LENGTH:BYTES,` for each value, in UTF-8, and `-,` for null: no two lists have the same text. */
function netstrings(values: readonly Value[]): string {
  let text = '';
  for (const value of values) {
    const written = String(value);
    text += value === null ? '-,' : `${Buffer.byteLength(written)}:${written},`;
  }
  return text;
}
