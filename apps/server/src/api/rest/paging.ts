import type { PageQuery } from '@belay/protocol';
import type { Request, Response } from 'express';

export interface Exchange {
  request: Request;
  response: Response;
}

/** A page of items in their order, the highest ids first; the answer says where the next one is. */
export function pageOf<T extends { id: string }>(
  items: readonly T[],
  { after, limit }: PageQuery,
  exchange: Exchange,
): T[] {
  const rest = after === undefined ? items : itemsAfter(items, after);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  if (last !== undefined && page.length < rest.length) linkNext(exchange, last.id);
  return page;
}

/** Says where the next page is, as RFC 8288 has it: the same address with another `after`. */
export function linkNext({ request, response }: Exchange, after: string | number): void {
  const url = new URL(request.originalUrl, 'http://host');
  url.searchParams.set('after', String(after));
  response.set('link', `<${url.pathname}${url.search}>; rel="next"`);
}

/** The item itself may be gone by now: then what has a lower id follows. */
function itemsAfter<T extends { id: string }>(items: readonly T[], after: string): T[] {
  const at = items.findIndex(({ id }) => id === after);
  return at < 0 ? items.filter(({ id }) => id < after) : items.slice(at + 1);
}
