import { Injectable } from '@nestjs/common';
import { AppError, type OperationInput, type OperationOutput } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { z } from 'zod';
import { Config } from '../config.js';
import { outgoingFetch } from '../egress/outgoing-fetch.js';

const answer = z.object({
  results: z.array(
    z.object({ title: z.string().catch(''), url: z.string(), content: z.string().nullish() }),
  ),
});

const seconds = 20;

/** `web.search` by a SearXNG-style endpoint: `BELAY_SEARCH_URL?q=…&format=json`. */
@Injectable()
export class WebSearch {
  constructor(private readonly config: Config) {}

  get isSetUp(): boolean {
    return this.config.searchUrl !== undefined;
  }

  /** Throws `unavailable` when no service is configured or it fails, `timeout` after 20 seconds, `cancelled`. */
  async search(
    { query, limit }: OperationInput<'web.search'>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<OperationOutput<'web.search'>> {
    const { searchUrl } = this.config;
    if (searchUrl === undefined) {
      throw new AppError(
        'conflict',
        'No search service is set up: set BELAY_SEARCH_URL to the /search address of a SearXNG server.',
      );
    }
    const address = new URL(searchUrl);
    address.searchParams.set('q', query);
    address.searchParams.set('format', 'json');
    const body = await this.#ask(address, timeLimit(seconds * 1000, signal)).catch(
      (error: unknown) => {
        if (signal?.aborted) throw new AppError('cancelled', 'The search was cancelled.');
        throw error;
      },
    );
    const results = body.results.slice(0, limit).map(({ title, url, content }) => ({
      title: title || url,
      url,
      excerpt: content ?? '',
    }));
    return { results };
  }

  async #ask(address: URL, signal: AbortSignal): Promise<z.output<typeof answer>> {
    let response: Response;
    try {
      response = await outgoingFetch(this.config.environment)(address.href, {
        signal,
        headers: { accept: 'application/json' },
      });
    } catch (error) {
      if (error instanceof DOMException && error.name === 'TimeoutError') {
        throw new AppError('timeout', `The search service did not respond within ${seconds} s.`);
      }
      throw new AppError('unavailable', `The search service at ${address.host} cannot be reached.`);
    }
    if (!response.ok) {
      const hint = response.status === 403 ? ' Allow the format json in its settings.' : '';
      throw new AppError('unavailable', `The search service answered ${response.status}.${hint}`);
    }
    const parsed = answer.safeParse(await response.json().catch(() => null));
    if (parsed.success) return parsed.data;
    throw new AppError(
      'unavailable',
      'The search service answered something that is not SearXNG JSON.',
    );
  }
}
