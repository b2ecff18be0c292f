import type { PageQuery } from '@belay/protocol';
import type { Request, Response } from 'express';
import { countItems } from '../limits/request-rates.js';

export interface Exchange {
  request: Request;
  response: Response;
}

/** A page of items, highest ids first; the response links to the next page. Throws `limit_reached`, see `countItems`. */
export function pageOf<T extends { id: string }>(
  items: readonly T[],
  { after, limit }: PageQuery,
  exchange: Exchange,
): T[] {
  const rest = after === undefined ? items : itemsAfter(items, after);
  const page = rest.slice(0, limit);
  countItems(exchange.request, page.length);
  const last = page.at(-1);
  if (last !== undefined && page.length < rest.length) linkNext(exchange, last.id);
  return page;
}

/** Links to the next page (RFC 8288): the same address with another `after`. */
export function linkNext({ request, response }: Exchange, after: string | number): void {
  const url = new URL(request.originalUrl, 'http://host');
  url.searchParams.set('after', String(after));
  response.set('link', `<${url.pathname}${url.search}>; rel="next"`);
}

/** The item itself may have been deleted; the page then begins with the next lower id. */
function itemsAfter<T extends { id: string }>(items: readonly T[], after: string): T[] {
  const at = items.findIndex(({ id }) => id === after);
  return at < 0 ? items.filter(({ id }) => id < after) : items.slice(at + 1);
}
