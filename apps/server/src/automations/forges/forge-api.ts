import { AppError } from '@belay/protocol';
import { z } from 'zod';
import {
  refusedBy,
  type GitHostAnswer,
  type GitHostCall,
  type GitHostRequests,
  type HostedRepository,
} from '../../git/git-host-request.js';
import { pollDelayOf } from '../../git/host-limit.js';
import type { ForgePage, ForgeQuery } from './forge-polling.js';
import type { HostPauses } from './host-pauses.js';

const timeoutMs = 30_000;
/** Entries of a page whose texts may each be as long as GitLab lets them be: 1 MiB. */
const smallPage = 5;

export interface ListOptions {
  /** Pages to read at most. */
  pages: number;
  /** Whether the newest are on the last page, and wanted. */
  fromEnd?: boolean;
}

/** The requests about one repository, with the errors that `Forge` promises. */
export class ForgeApi {
  constructor(
    private readonly requests: GitHostRequests,
    private readonly target: Omit<HostedRepository, 'signal'>,
    private readonly pauses: HostPauses,
    /** The repository’s address below that of the API, such as `repos/acme/api`. */
    readonly repository: string,
  ) {}

  get host(): string {
    return this.target.host.host;
  }

  /** An address below that of the repository. */
  at(path: string): string {
    return `${this.repository}/${path}`;
  }

  /** The address of the repository’s page. */
  get page(): string {
    return this.target.remote.address.url;
  }

  /** `doing` completes “the token may not …”. */
  async read<T extends z.ZodType>(doing: string, path: string, schema: T): Promise<z.output<T>> {
    return this.parse(doing, await this.send(doing, { method: 'GET', path }), schema);
  }

  /** Like `read`; undefined for what does not exist. */
  async find<T extends z.ZodType>(
    doing: string,
    path: string,
    schema: T,
  ): Promise<z.output<T> | undefined> {
    const answer = await this.answer({ method: 'GET', path });
    // Gitea answers “no content” for what is something else.
    if (isMissing(answer.status) || answer.status === 204) return undefined;
    return this.parse(doing, this.#wanted(doing, answer), schema);
  }

  async write<T extends z.ZodType>(
    doing: string,
    call: Pick<GitHostCall, 'method' | 'path' | 'body'>,
    schema: T,
  ): Promise<z.output<T>> {
    return this.parse(doing, await this.send(doing, call), schema);
  }

  /** An answer that says that it was done. Throws one sentence otherwise. */
  async send(doing: string, call: GitHostCall): Promise<GitHostAnswer> {
    return this.#wanted(doing, await this.answer(call));
  }

  /**
   * A list in the host’s order, of at most some pages. Its pages are small if large ones have more than an answer may have,
   * so that nobody hides what else is there by long texts.
   */
  async list<T extends z.ZodType>(
    doing: string,
    path: string,
    item: T,
    { pages, fromEnd = false }: ListOptions,
  ): Promise<z.output<T>[]> {
    const read = (size: number, most: number) => {
      const page = async (number: number) => {
        const name = this.target.host.kind === 'gitea' ? 'limit' : 'per_page';
        const query = `${name}=${size}&page=${number}`;
        const answer = await this.send(doing, { method: 'GET', path: withQuery(path, query) });
        return { items: this.parse(doing, answer, z.array(item)), answer };
      };
      return pagesOf(page, { pages: most, fromEnd });
    };
    try {
      return await read(this.target.host.kind === 'gitea' ? 50 : 100, pages);
    } catch (error) {
      if (!(error instanceof AppError) || error.details?.['isTooLarge'] !== true) throw error;
      return read(smallPage, pages * 4);
    }
  }

  /** A page of a list below the repository, for polling. */
  async get(path: string, { etag, query = {} }: ForgeQuery = {}): Promise<ForgePage> {
    const own = path.split('?', 1)[0] ?? '';
    if (own.split('/').some((part) => /^\.{1,2}$/.test(decodeURIComponent(part))))
      throw new AppError('invalid_input', 'A list is named below its repository.');
    const given = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const full = `${this.repository}/${given === '' ? path : withQuery(path, given)}`;
    const answer = await this.answer({ method: 'GET', path: full, etag: etag ?? undefined });
    if (answer.status !== 304) this.#wanted('read its lists', answer);
    const next = linksOf(answer).get('next');
    return {
      status: answer.status,
      etag: answer.headers['etag']?.slice(0, 500) ?? null,
      body: answer.body,
      // The host’s link may name the repository otherwise, or lead elsewhere: only its query counts.
      next: next ? `${own}${next.search}` : null,
      pollAfterMs: pollDelayOf(answer),
    };
  }

  /** Any answer. Throws only while the host wants no requests, or if it does not answer. */
  async answer(call: GitHostCall): Promise<GitHostAnswer> {
    this.pauses.check(this.host);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      return await this.requests.send({ ...this.target, signal }, call);
    } catch (error) {
      if (signal.aborted)
        throw new AppError('timeout', `${this.host} did not respond in time. Try again later.`);
      if (!(error instanceof AppError))
        throw new AppError('unavailable', `${this.host} ended its response too early.`);
      this.pauses.note(this.host, error);
      throw error;
    }
  }

  parse<T extends z.ZodType>(doing: string, { body }: GitHostAnswer, schema: T): z.output<T> {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new AppError(
      'unavailable',
      `${this.host} answered what cannot be read, asked to ${doing}. Check its kind under Settings, Git hosts.`,
    );
  }

  /** The error for an answer that is not a success. */
  refusal(doing: string, answer: GitHostAnswer): AppError {
    const { status } = answer;
    if (isMissing(status))
      return new AppError(
        'not_found',
        `${this.host} cannot ${doing} of ${this.repositoryName}: it is not there, or the token may not see it.`,
      );
    if (status >= 500)
      return new AppError(
        'unavailable',
        `${this.host} could not ${doing} (status ${status}). Try again later.`,
      );
    const refused = refusedBy(this.host, answer, doing);
    return refused.code === 'unauthorized' ? new AppError('forbidden', refused.message) : refused;
  }

  get repositoryName(): string {
    return this.target.remote.address.path.replace(/\.git$/, '');
  }

  #wanted(doing: string, answer: GitHostAnswer): GitHostAnswer {
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw this.refusal(doing, answer);
  }
}

/** The entries of at most some pages: the first ones, or the last ones. */
async function pagesOf<T>(
  page: (number: number) => Promise<{ items: T[]; answer: GitHostAnswer }>,
  { pages, fromEnd }: Required<ListOptions>,
): Promise<T[]> {
  const first = await page(1);
  const last = pageIn(first.answer, 'last');
  const skipped = fromEnd && last !== undefined ? Math.max(0, last - pages) : 0;
  const items = skipped > 0 ? [] : [...first.items];
  let next = skipped > 0 ? skipped + 1 : pageIn(first.answer, 'next');
  for (let read = skipped > 0 ? 0 : 1; next !== undefined && read < pages; read++) {
    const one = await page(next);
    items.push(...one.items);
    next = pageIn(one.answer, 'next');
  }
  return items;
}

const isMissing = (status: number): boolean => status === 404 || status === 410;

const withQuery = (path: string, query: string): string =>
  `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** The addresses of other pages, as the header `Link` names them. */
function linksOf({ headers }: GitHostAnswer): Map<string, URL> {
  const links = (headers['link'] ?? '').slice(0, 8_000).matchAll(/<([^<>]+)>\s*;\s*rel="(\w+)"/g);
  const found = new Map<string, URL>();
  for (const [, address = '', rel = ''] of links) {
    const url = URL.parse(address, 'https://host.invalid');
    if (url) found.set(rel, url);
  }
  return found;
}

function pageIn(answer: GitHostAnswer, rel: 'next' | 'last'): number | undefined {
  const page = linksOf(answer).get(rel)?.searchParams.get('page') ?? '';
  return /^\d{1,6}$/.test(page) ? Number(page) : undefined;
}
