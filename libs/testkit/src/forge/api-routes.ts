import type { Asked, PlayedAnswer } from './api-player.js';

/** Answers by `METHOD path/:name/…`; a handler without an answer means 404. */
export type ApiRoutes = Record<string, (asked: Asked) => PlayedAnswer | undefined>;

/** Finds the route of a request and lets it answer; of several, the one with the fewest parameters. */
export function answerByRoute(routes: ApiRoutes, asked: Asked): PlayedAnswer | undefined {
  const parts = asked.path.split('/');
  const parameters = (name: string): number => name.split(':').length;
  const ordered = Object.entries(routes).toSorted(([a], [b]) => parameters(a) - parameters(b));
  for (const [name, answer] of ordered) {
    const [method, pattern = ''] = name.split(' ');
    const wanted = pattern.split('/');
    const fits = wanted.every((part, index) => part.startsWith(':') || part === parts[index]);
    if (method !== asked.method || wanted.length !== parts.length || !fits) continue;
    const at = (key: string): string => decodeURIComponent(parts[wanted.indexOf(`:${key}`)] ?? '');
    return answer({ ...asked, at });
  }
  return undefined;
}

export const jsonAnswer = (body: unknown, status = 200): PlayedAnswer => ({ status, body });

export const textIn = (body: Record<string, unknown>, key: string): string | undefined =>
  typeof body[key] === 'string' ? body[key] : undefined;

/** A flag of JSON or of a form. */
export const isOnIn = (body: Record<string, unknown>, key: string): boolean =>
  body[key] === true || body[key] === 'true';

export const textsIn = (body: Record<string, unknown>, key: string): string[] | undefined => {
  const value = body[key];
  if (Array.isArray(value)) return value.map(String);
  // GitLab's lists of names are also texts with commas.
  return typeof value === 'string' ? value.split(',').filter(Boolean) : undefined;
};

export const recordsIn = (
  body: Record<string, unknown>,
  key: string,
): Record<string, unknown>[] => {
  const value = body[key];
  return Array.isArray(value) ? (value as Record<string, unknown>[]) : [];
};

interface Page<T> {
  items: T[];
  number: number;
  size: number;
  total: number;
  pages: number;
}

/** The part of a list that was asked for. */
export function listPage<T>(
  list: readonly T[],
  { query }: Asked,
  { name, size, most }: { name: string; size: number; most: number },
): Page<T> {
  const wanted = Number(query.get(name) ?? size) || size;
  const used = Math.min(wanted, most);
  const number = Math.max(Number(query.get('page') ?? 1) || 1, 1);
  const items = list.slice((number - 1) * used, number * used);
  const pages = Math.max(Math.ceil(list.length / used), 1);
  return { items, number, size: used, total: list.length, pages };
}

/** The `Link` header of a page, as all three hosts write it. */
export function linkHeader(page: Page<unknown>, address: string, query: URLSearchParams): string {
  const link = (number: number, rel: string): string => {
    const all = new URLSearchParams(query);
    all.set('page', String(number));
    return `<${address}?${all}>; rel="${rel}"`;
  };
  const { number, pages } = page;
  return [
    ...(number > 1 ? [link(number - 1, 'prev')] : []),
    ...(number < pages ? [link(number + 1, 'next'), link(pages, 'last')] : []),
    ...(number > 1 ? [link(1, 'first')] : []),
  ].join(', ');
}

/** The entries that changed at a time or later; times are compared as the host shows them, to the second. */
export function changedSince<T extends { updated: string }>(
  list: readonly T[],
  since: string | null,
): T[] {
  if (since === null) return [...list];
  const from = Math.floor(Date.parse(since) / 1000);
  return list.filter(({ updated }) => Math.floor(Date.parse(updated) / 1000) >= from);
}

export function sortedBy<T extends { id: number; created: string; updated: string }>(
  list: readonly T[],
  by: 'created' | 'updated',
  direction: string,
): T[] {
  const order = list.toSorted((a, b) => a[by].localeCompare(b[by]) || a.id - b.id);
  return direction === 'desc' ? order.toReversed() : order;
}
