import { AppError, webPage } from '@belay/protocol';
import { z } from 'zod';

/**
 * The fields that answers of git hosts have, with bounds: a host and whoever writes there is not trusted. What is too long
 * is cut, so that nobody can stop an automation by the length of a title.
 */

const maxBodyLength = 262_144;
const maxLabels = 100;

const cut = (most: number) =>
  z
    .string()
    .nullish()
    .transform((text) => (text ?? '').slice(0, most));

/** A number or a text of the host, as text. */
export const hostId = z
  .union([z.int(), z.string().min(1).max(100)])
  .transform((value) => String(value));

export const shortText = cut(1_000);
export const longText = cut(maxBodyLength);
/** Not cut, for what is sent back; the size of an answer bounds it. */
export const wholeText = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
export const forgeCommit = z.string().regex(/^[0-9a-f]{40}$/);
export const issueNumber = z.int().positive();

/** The address of a page; null if it is none that may be shown. */
export const pageAddress = z
  .unknown()
  .optional()
  .transform((value) => webPage.safeParse(value).data ?? null);

/** Names of labels: texts, or objects with a name. */
export const labelNames = z
  .array(z.union([z.string(), z.object({ name: z.string() })]))
  .nullish()
  .transform((labels) =>
    (labels ?? [])
      .slice(0, maxLabels)
      .map((one) => (typeof one === 'string' ? one : one.name).slice(0, 300)),
  );

/** A summary that a check gives of itself; null if it is empty. */
export const checkSummary = (...texts: readonly (string | null | undefined)[]): string | null => {
  const text = texts.filter(Boolean).join('\n\n').slice(0, 8_000);
  return text === '' ? null : text;
};

/** The meaning of a host’s words, which are not those of every object, such as `constructor`. */
export const byWord = <T>(words: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map(Object.entries(words));

/** One part of an address. Throws `not_found` for what a URL would understand as another path. */
export function pathPart(text: string): string {
  if (/^\.{0,2}$/.test(text) || text.length > 300)
    throw new AppError('not_found', 'There is nothing with such a name at the git host.');
  return encodeURIComponent(text);
}
