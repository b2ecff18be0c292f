import type { ForgeEvent, Occurrence } from '@belay/protocol';
import type { Forge } from '../../forges/forge.js';
import type { ForgePage, ForgeQuery, ForgeReader } from '../../forges/forge-polling.js';

/** Something found by polling. */
export interface PolledItem {
  /** Of the thing in its list, so that it is taken once. */
  readonly id: string;
  readonly occurrence: Occurrence;
}

export interface PollQuery {
  readonly forge: Forge & Pick<ForgeReader, 'get'>;
  /** What happened before was told. */
  readonly since: string;
  readonly now: string;
  readonly etag: string | null;
  /** What the list remembers: ids at the boundary, or a snapshot. */
  readonly seen: readonly string[];
  /** The first time: nothing old begins anything. */
  readonly isFirst: boolean;
  /** The events that automations want. */
  readonly wanted: ReadonlySet<ForgeEvent>;
}

export interface PolledAnswer {
  readonly items: readonly PolledItem[];
  readonly etag?: string | null;
  readonly seen?: readonly string[];
  readonly pollAfterMs?: number | null;
}

/** A list of a host that is read again and again. */
export interface PolledList {
  readonly name: string;
  readonly events: readonly ForgeEvent[];
  /** Whether it compares with what was there, and so has to be read the first time as well. */
  readonly isSnapshot?: boolean;
  /** Throws as `Forge` does. */
  read(query: PollQuery): Promise<PolledAnswer>;
}

const maxPages = 5;

/** The items of a list from its first page on, until `isEnough` says that the rest is old. */
export async function pagesOf(
  { forge }: Pick<PollQuery, 'forge'>,
  path: string,
  {
    etag = null,
    query,
    isEnough = () => false,
  }: ForgeQuery & { isEnough?: (body: unknown) => boolean },
): Promise<{ body: unknown[]; first: ForgePage }> {
  const first = await forge.get(path, { etag, ...(query && { query }) });
  const body = Array.isArray(first.body) ? [...(first.body as unknown[])] : [];
  let page = first;
  for (let read = 1; read < maxPages && page.next !== null && !isEnough(page.body); read++) {
    page = await forge.get(page.next);
    if (Array.isArray(page.body)) body.push(...(page.body as unknown[]));
  }
  return { body, first };
}

/** Whether the last item of a page, newest first, is older than a time. */
export const endsBefore =
  (since: string, field: string) =>
  (body: unknown): boolean => {
    const last: unknown = Array.isArray(body) ? body.at(-1) : undefined;
    const time = (last as Record<string, unknown> | undefined)?.[field];
    return typeof time === 'string' && new Date(time) < new Date(since);
  };
