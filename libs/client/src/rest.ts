import {
  api,
  AppError,
  errorOfProblem,
  faultOf,
  isBytes,
  isSchema,
  parseOutput,
  type Route,
  type RouteGroup,
} from '@belay/protocol';
import type { BelayClient } from './belay-client.js';

export interface Address {
  /** The server’s address, such as http://127.0.0.1:4600. */
  url: string;
  /** The server’s token; in a browser, the key of the page’s login, which is valid only with its cookie. */
  token?: string;
  /** Larger responses are refused while they arrive; unlimited when omitted. */
  maxBytes?: number;
  /** The program’s name for the server’s audit log; browsers send their own. */
  agent?: string;
  /** Replaces `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** A typed client of the server’s REST routes. Works in browsers and in Node. */
export function createClient(address: Address): BelayClient {
  const calls = (group: RouteGroup) =>
    Object.fromEntries(
      Object.entries(group).map(([name, route]) => [
        name,
        (...input: unknown[]) => call(address, route, input),
      ]),
    );
  const groups = Object.entries(api).map(([name, group]) => [name, calls(group)]);
  // BelayClient is this same projection of `api` as a type.
  const client = Object.fromEntries(groups) as unknown as BelayClient;
  client.sessions.call = async (id, operation, input) =>
    parseOutput(operation, await call(address, api.sessions.call, [id, operation, input]));
  client.sessions.callGiven = (id, operation, input) =>
    call(address, api.sessions.call, [id, operation, input]);
  return client;
}

async function call(address: Address, route: Route, input: unknown[]): Promise<unknown> {
  const response = await send(address, requestOf(route, [...input]));
  if (isBytes(route.response)) return bytesOf(response, address.maxBytes);
  if (!isSchema(route.response)) return void (await response.arrayBuffer());
  const parsed = route.response.safeParse(await response.json());
  if (parsed.success) return parsed.data;
  const { method, path } = route;
  throw new AppError(
    'internal',
    `The response to ${method} ${path} is not what this client expects (${faultOf(parsed.error)}). Use a client of the server’s version.`,
  );
}

/** The bytes of a response as they arrive; the arguments are those of the client’s call. Rejects with `AppError`. */
export async function download(
  address: Address,
  route: Route,
  input: unknown[],
): Promise<AsyncIterable<Uint8Array>> {
  return chunksOf(await send(address, requestOf(route, [...input])));
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      yield read.value;
  } finally {
    await reader?.cancel();
  }
}

async function bytesOf(response: Response, max: number | undefined): Promise<Uint8Array> {
  const reader = max === undefined ? undefined : response.body?.getReader();
  if (!reader || max === undefined) return new Uint8Array(await response.arrayBuffer());
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > max) {
      await reader.cancel();
      throw new AppError(
        'too_large',
        `The server’s response is larger than ${Math.round(max / 2 ** 20)} MiB and was not read.`,
      );
    }
    chunks.push(read.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

interface Request {
  method: string;
  path: string;
  body?: unknown;
  type?: string;
}

/** Converts a call’s arguments, in the order of `RouteCall`, to a request. */
function requestOf({ method, path, body, query }: Route, input: unknown[]): Request {
  const filled = path.replaceAll(/:\w+/g, () => encodeURIComponent(String(input.shift())));
  const content = body && {
    body: isSchema(body) ? JSON.stringify(input.shift()) : input.shift(),
    type: mediaType(body, input),
  };
  const search = query ? queryOf(input.shift() as Record<string, unknown> | undefined) : '';
  return { method, path: filled + search, ...content };
}

function mediaType(body: NonNullable<Route['body']>, input: unknown[]): string {
  if (!isBytes(body)) return 'application/json';
  return body.bytes === '*/*' ? String(input.shift()) : body.bytes;
}

function queryOf(values: Record<string, unknown> = {}): string {
  const entries = Object.entries(values).filter((entry) => entry[1] !== undefined);
  const text = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}

/** Node keeps a sent body in memory for a redirect, unless redirects and pages are ruled out. */
const streamed = { duplex: 'half', redirect: 'error', window: null };

async function send(
  { url, token, agent, fetch = globalThis.fetch }: Address,
  request: Request,
): Promise<Response> {
  const { method, path, body, type } = request;
  const init = {
    method,
    credentials: 'same-origin',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(agent !== undefined && { 'user-agent': agent }),
      ...(type !== undefined && { 'content-type': type }),
    },
    // A request with a body is never redirected.
    ...(body !== undefined && { body: body as BodyInit, redirect: 'error' }),
    ...(body instanceof ReadableStream && streamed),
  } as RequestInit;
  const attempt = () => fetch(url + path, init);
  const again = (error: unknown) => {
    if (method === 'GET' && isReset(error)) return attempt();
    throw error;
  };
  const response = await attempt()
    .catch(again)
    .catch((error: unknown) => {
      // Thrown by the content, which is produced while it is sent.
      if (error instanceof Error && error.cause instanceof AppError) throw error.cause;
      throw new AppError(
        'unavailable',
        `No Belay server answers at ${url} (${reason(error)}). Start one with: belay up`,
      );
    });
  if (!response.ok) throw await failure(response);
  return response;
}

/**
 * In Node, a kept connection can be closed just as it is used again. A request that only reads is sent once more, on
 * another connection; others may have run.
 */
const isReset = (error: unknown): boolean =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(reason(error));

const reason = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
};

async function failure(response: Response): Promise<AppError> {
  const text = await response.text();
  const error = errorOfProblem(text);
  if (error) return error;
  // The response comes from something between here and the server.
  const message = `The server answered ${response.status} ${response.statusText}: ${text.slice(0, 200)}`;
  return new AppError(response.status === 401 ? 'unauthorized' : 'internal', message);
}
