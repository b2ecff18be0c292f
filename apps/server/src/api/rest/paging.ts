import type { PageQuery } from '@belay/protocol';
import type { Request, Response } from 'express';

export interface Exchange {
  request: Request;
  response: Response;
}

/** A page of items in their order, the highest ids first; the answer says where the next one is. */
export function pageOf<T>(
  items: readonly T[],
  { after, limit }: PageQuery,
  { idOf, ...exchange }: Exchange & { idOf: (item: T) => string },
): T[] {
  const rest = after === undefined ? [...items] : itemsAfter(items, after, idOf);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  if (last !== undefined && page.length < rest.length) linkNext(exchange, idOf(last));
  return page;
}

/** Says where the next page is, as RFC 8288 has it: the same address with another `after`. */
export function linkNext({ request, response }: Exchange, after: string | number): void {
  const url = new URL(request.originalUrl, 'http://host');
  url.searchParams.set('after', String(after));
  response.set('link', `<${url.pathname}${url.search}>; rel="next"`);
}

/** The item itself may be gone by now: then what has a lower id follows. */
function itemsAfter<T>(items: readonly T[], after: string, idOf: (item: T) => string): T[] {
  const at = items.findIndex((item) => idOf(item) === after);
  return at < 0 ? items.filter((item) => idOf(item) < after) : items.slice(at + 1);
}
