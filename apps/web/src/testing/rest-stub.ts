import {
  api,
  AppError,
  errorFrom,
  faultOf,
  isBytes,
  isSchema,
  problemOf,
  problemType,
  type Bytes,
  type Route,
  type RouteInput,
  type RouteResult,
} from '@belay/protocol';

type Api = typeof api;
type Output<R extends Route> = R['response'] extends Bytes ? Uint8Array : RouteResult<R>;
type Handler<R> = R extends Route
  ? (input: RouteInput<R>) => Output<R> | Promise<Output<R>>
  : never;

/** The server’s replies by route. A thrown `AppError` becomes a problem document. */
export type RestReplies = {
  [Group in keyof Api]?: { [Name in keyof Api[Group]]?: Handler<Api[Group][Name]> };
};

type Names<Group extends keyof Api> = `${Group}.${keyof Api[Group] & string}`;
export type RouteName = { [Group in keyof Api]: Names<Group> }[keyof Api];

interface Sent {
  route: string;
  params: Record<string, string>;
  query: Record<string, string>;
  /** The parsed JSON, or bytes. */
  body: unknown;
}

/**
 * The server’s REST API in tests. Replaces `fetch`, finds the route in the contract, validates the
 * body against its schema, and returns the test’s reply. A route without a reply is `not_found`.
 */
export class RestStub {
  readonly #sent: Sent[] = [];

  constructor(readonly replies: RestReplies) {
    globalThis.fetch = async (url, init = {}) => {
      if (typeof url !== 'string') throw new TypeError('The client fetches by address.');
      return this.#reply(new URL(url), init);
    };
  }

  /** The requests to a route so far, without its name. */
  sentTo(name: RouteName): Omit<Sent, 'route'>[] {
    return this.#sent
      .filter(({ route }) => route === name)
      .map(({ params, query, body }) => ({ params, query, body }));
  }

  /** The request bodies of a route so far. */
  bodiesOf(name: RouteName): unknown[] {
    return this.sentTo(name).map(({ body }) => body);
  }

  async #reply(url: URL, { method = 'GET', body }: RequestInit): Promise<Response> {
    try {
      const found = routeOf(method, url.pathname);
      if (!found) throw new AppError('not_found', `No route is ${method} ${url.pathname}.`);
      const { group, name, route, params } = found;
      const query = Object.fromEntries(url.searchParams);
      const content = typeof body === 'string' ? (JSON.parse(body) as unknown) : body;
      this.#sent.push({ route: `${group}.${name}`, params, query, body: content });
      // The dynamic name loses the relation between a route and its handler’s type.
      const handlers = (this.replies[group] ?? {}) as Record<string, Handler<Route> | undefined>;
      const handler = handlers[name];
      if (!handler) throw new AppError('not_found', `The test has no reply of ${group}.${name}.`);
      const parsed = isSchema(route.body) ? parse(route.body, content) : undefined;
      const output = await handler({ params, query, body: parsed });
      return responseOf(route, output);
    } catch (error) {
      const problem = problemOf(errorFrom(error));
      const headers = { 'content-type': problemType };
      return new Response(JSON.stringify(problem), { status: problem.status, headers });
    }
  }
}

interface Found {
  group: keyof Api;
  name: string;
  route: Route;
  params: Record<string, string>;
}

function routeOf(method: string, path: string): Found | undefined {
  for (const group of Object.keys(api) as (keyof Api)[])
    for (const [name, route] of Object.entries<Route>(api[group])) {
      const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
      const match = route.method === method && pattern.exec(path);
      if (match) return { group, name, route, params: decoded(match.groups) };
    }
  return undefined;
}

const decoded = (groups: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
  );

function parse(schema: Extract<Route['body'], { parse: unknown }>, body: unknown): unknown {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new AppError('invalid_input', `The request is not valid: ${faultOf(parsed.error)}.`);
}

function responseOf({ response, status }: Route, output: unknown): Response {
  if (isBytes(response)) return new Response(output as BodyInit, { status });
  return new Response(isSchema(response) ? JSON.stringify(output) : null, { status });
}
