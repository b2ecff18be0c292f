import { hash } from 'node:crypto';

/**
 * The one text of a value of objects, lists, texts, whole numbers, booleans and null: as JCS (RFC 8785) writes it, with
 * keys in order and without spaces. Throws for any other value.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, one]) => `${canonicalJson(key)}:${canonicalJson(one)}`).join()}}`;
  }
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0);
  const isText = typeof value === 'string' && value.isWellFormed();
  if (isWhole || isText || typeof value === 'boolean' || value === null)
    return JSON.stringify(value);
  throw new TypeError(`A ${typeof value} such as this has no canonical form.`);
}

export const canonicalDigest = (value: unknown): string =>
  hash('sha256', canonicalJson(value), 'hex');
