import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** A request to a played API. */
export interface Asked {
  method: string;
  /** Below the API’s prefix, encoded as it came. */
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
  /** The body if it is a list. */
  list: unknown[] | null;
  /** The values of a route’s `:names`, decoded. */
  at: (name: string) => string;
}

export interface PlayedAnswer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What every request is answered with in place of the truth, or those to some paths. */
export interface PlayedFailure {
  /** Null lets the request pass, later. */
  status: number | null;
  paths?: RegExp;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** How many requests it is for; all if not given. */
  times?: number;
  /** How late the answer is. */
  afterMs?: number;
}

export interface ApiFace {
  prefix: string;
  unauthorized: PlayedAnswer;
  isAuthorized(headers: IncomingHttpHeaders, token: string): boolean;
  answer(asked: Asked): PlayedAnswer;
  /** Headers of every answer. */
  limitHeaders(limits: PlayedLimits): Record<string, string>;
  /** The answer when no requests are left. */
  limited(limits: PlayedLimits): PlayedAnswer;
  hasEtags: boolean;
}

export interface PlayedLimits {
  limit: number;
  remaining: number;
  /** Seconds since 1970. */
  reset: number;
}

interface SeenRequest {
  method: string;
  path: string;
  status: number;
  body: unknown;
}

/** The HTTP of a played API: authorization, failures on demand, rate limits and ETags, whatever its host. */
export class ApiPlayer {
  /** Renewing it makes all earlier tokens worthless. */
  token: string;
  fail: PlayedFailure | undefined;
  readonly limits: PlayedLimits = {
    limit: 5000,
    remaining: 5000,
    reset: Math.floor(Date.now() / 1000) + 3600,
  };
  /** The requests so far with their statuses; a 304 costs nothing. */
  readonly seen: SeenRequest[] = [];

  constructor(
    private readonly face: ApiFace,
    token: string,
  ) {
    this.token = token;
  }

  /** Returns whether the request is for this API. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? '/', 'http://x');
    if (!url.pathname.startsWith(this.face.prefix)) return false;
    void this.#respond(request, response, url).catch((error: unknown) => {
      response.writeHead(500).end(String(error instanceof Error ? error.stack : error));
    });
    return true;
  }

  async #respond(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const bytes = await buffer(request);
    const path = url.pathname.slice(this.face.prefix.length);
    const method = request.method ?? 'GET';
    const asked = { method, path, query: url.searchParams, ...parsedBody(bytes), at: () => '' };
    const failure = this.#failure(asked);
    if (failure?.afterMs) await new Promise((done) => setTimeout(done, failure.afterMs));
    const answer = this.#answer(asked, request.headers, failure);
    const { status, body, headers } = this.#conditional(answer, request, method);
    this.seen.push({ method, path: path + url.search, status, body: asked.list ?? asked.body });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const isJson = typeof body !== 'string';
    response.writeHead(status, {
      ...(body !== undefined && {
        'content-type': isJson ? 'application/json; charset=utf-8' : 'text/html',
      }),
      ...this.face.limitHeaders(this.limits),
      ...headers,
    });
    response.end(text);
  }

  #answer(
    asked: Asked,
    headers: IncomingHttpHeaders,
    failure: PlayedFailure | undefined,
  ): PlayedAnswer {
    if (failure && failure.status !== null) {
      const { status, body = { message: 'It was made to fail' }, headers: more = {} } = failure;
      return { status, body, headers: more };
    }
    if (!this.face.isAuthorized(headers, this.token)) return this.face.unauthorized;
    if (this.limits.remaining <= 0) return this.face.limited(this.limits);
    return this.face.answer(asked);
  }

  #failure({ path, method }: Asked): PlayedFailure | undefined {
    const { fail } = this;
    if (!fail || fail.times === 0) return undefined;
    if (fail.paths?.test(path) === false) return undefined;
    if (fail.method !== undefined && fail.method !== method) return undefined;
    if (fail.times !== undefined) fail.times -= 1;
    return fail;
  }

  #conditional(answer: PlayedAnswer, request: IncomingMessage, method: string): PlayedAnswer {
    const isCached = this.face.hasEtags && method === 'GET' && answer.status === 200;
    const { headers = {} } = answer;
    const hash = createHash('sha256').update(JSON.stringify(answer)).digest('hex');
    const etag = `W/"${hash}"`;
    if (isCached && request.headers['if-none-match'] === etag)
      return { status: 304, headers: { etag, ...headers } };
    if (this.limits.remaining > 0 && answer.status !== 401) this.limits.remaining -= 1;
    return isCached ? { ...answer, headers: { etag, ...headers } } : answer;
  }
}

function parsedBody(bytes: Buffer): Pick<Asked, 'body' | 'list'> {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    if (Array.isArray(value)) return { body: {}, list: value };
    if (typeof value === 'object' && value !== null)
      return { body: value as Record<string, unknown>, list: null };
  } catch {
    // Real hosts take a form as well.
  }
  return { body: Object.fromEntries(new URLSearchParams(bytes.toString())), list: null };
}
