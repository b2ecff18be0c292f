import { AppError, belayVersion, ignoreError } from '@belay/protocol';
import {
  auth,
  extractWWWAuthenticateParams,
  UnauthorizedError,
} from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import type { SavedTransport } from './mcp-config.js';
import { McpFailure } from './mcp-failure.js';
import type { McpLogin } from './mcp-logins.store.js';
import { programFailure } from './program-failure.js';
import type { ProgramRunner } from '../programs/program.js';
import { ProgramTransport } from './program-transport.js';
import { usefulOutput } from './useful-output.js';

export type { CallToolResult, Tool };

/** Milliseconds. A first start of `npx` or `uvx` downloads the server. */
const connectTimeoutMs = 30_000;
const listTimeoutMs = 20_000;
const probeTimeoutMs = 5_000;
const renewTimeoutMs = 20_000;
/** The timeout of a call without progress; each report of progress restarts it. */
const callTimeoutMs = 120_000;
const maxCallTimeMs = 30 * 60_000;
/** Limits the pages, because a faulty server may return endless ones. */
const maxPages = 50;

export interface ConnectOptions {
  name: string;
  transport: SavedTransport;
  /** Runs programs in containers. */
  programs: ProgramRunner;
  fetch: typeof globalThis.fetch;
  /** The user’s login at the server. */
  login?: McpLogin | undefined;
  /** Cancels the attempt to connect. */
  signal: AbortSignal;
  onToolsChanged(): void;
  onClosed(): void;
}

/** One connection to an MCP server. Every failure is an `McpFailure`. */
export interface McpConnection {
  tools(): Promise<Tool[]>;
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

export async function connectMcp(options: ConnectOptions): Promise<McpConnection> {
  const { transport: config, signal } = options;
  const transport = open(config, options);
  const lastOutput = listen(transport);
  const failure = (error: unknown): McpFailure => failureOf(error, config, lastOutput());
  const client = await connected(transport, signal).catch(async (error: unknown) => {
    const older = olderTransport(error, options);
    const second = older && (await connected(older, signal).catch(() => undefined));
    if (second) return second;
    if (!(transport instanceof ProgramTransport) || config.type !== 'stdio') throw failure(error);
    throw programFailure(failure(error), config, transport.end);
  });
  let probing = false;
  let closed = false;
  client.onclose = () => {
    closed = true;
    options.onClosed();
  };
  // A lost stream does not fail calls, so a ping checks whether the server is still there.
  client.onerror = () => {
    if (probing || closed) return;
    probing = true;
    client
      .ping({ timeout: probeTimeoutMs })
      .catch(() => client.close())
      .catch(ignoreError('it is closed already'))
      .finally(() => (probing = false));
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onToolsChanged());
  return {
    tools: () => allTools(client).catch((error: unknown) => Promise.reject(failure(error))),
    async call(name, input, signal) {
      try {
        const limits = {
          signal,
          timeout: callTimeoutMs,
          maxTotalTimeout: maxCallTimeMs,
          resetTimeoutOnProgress: true,
          onprogress: () => undefined,
        };
        const call = { name, arguments: input };
        return (await client.callTool(call, undefined, limits)) as CallToolResult;
      } catch (error) {
        throw failure(error);
      }
    },
    close: () => client.close(),
  };
}

async function connected(transport: Transport, signal: AbortSignal): Promise<Client> {
  const client = new Client({ name: 'belay', version: belayVersion });
  try {
    await client.connect(transport, { timeout: connectTimeoutMs, signal });
    return client;
  } catch (error) {
    await client.close().catch(ignoreError('the first failure is reported'));
    throw error;
  }
}

/** The protocol’s fallback: a server that refuses a POST like this may predate streamable HTTP. */
function olderTransport(
  error: unknown,
  { transport: config, fetch }: ConnectOptions,
): Transport | undefined {
  if (config.type !== 'http' || !(error instanceof StreamableHTTPError)) return undefined;
  if (![400, 404, 405].includes(error.code ?? 0)) return undefined;
  const requestInit = { headers: config.headers };
  return new SSEClientTransport(new URL(config.url), { requestInit, fetch });
}

function open(config: SavedTransport, { name, fetch, login, programs, signal }: ConnectOptions) {
  if (config.type === 'stdio') {
    if (!config.host) return new ProgramTransport(() => programs.run({ ...config, name }, signal));
    // The SDK passes on PATH, HOME and similar variables, but none of the server’s own.
    const { command, args, env } = config;
    return new StdioClientTransport({ command, args, env, stderr: 'pipe' });
  }
  const requestInit = { headers: config.headers };
  const safe = fetchFor(config.url, fetch);
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit,
    fetch: login ? fetchWithLogin(login, config.url, safe) : safe,
  });
}

/** In place of the SDK’s own, which renews the tokens in each request that is refused, however many there are at once. */
const fetchWithLogin =
  (login: McpLogin, serverUrl: string, fetchFn: typeof globalThis.fetch) =>
  async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const ask = (token: string): Promise<Response> => {
      const headers = new Headers(init.headers);
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
      return fetchFn(input, { ...init, headers });
    };
    const used = login.tokens()?.access_token ?? '';
    const response = await ask(used);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    const work = (): Promise<unknown> => {
      const signal = AbortSignal.timeout(renewTimeoutMs);
      const within: typeof fetchFn = (url, asked) => fetchFn(url, { ...asked, signal });
      return auth(login, { serverUrl, resourceMetadataUrl, scope, fetchFn: within });
    };
    await login.renew({ used, work, signal: init.signal ?? undefined });
    return ask(login.tokens()?.access_token ?? '');
  };

/**
 * One step of a login: without a code, it finds out where the user logs in; with one, it gets the tokens. Returns the
 * login page, or undefined when the login is complete. Every failure is an `McpFailure`.
 */
export async function signIn(
  login: McpLogin,
  { url, fetch, code }: { url: string; fetch: typeof globalThis.fetch; code?: string },
): Promise<URL | undefined> {
  try {
    const result = await auth(login, {
      serverUrl: url,
      fetchFn: fetchFor(url, fetch),
      ...(code !== undefined && { authorizationCode: code }),
    });
    if (result === 'AUTHORIZED') return undefined;
  } catch (error) {
    throw failureOf(error, { type: 'http', url, headers: {} }, '');
  }
  const { page } = login;
  if (page && /^https?:$/.test(page.protocol)) return page;
  throw new McpFailure('refused', 'provides no login page.');
}

/** The login addresses that an MCP server names must be on that server, or use TLS. */
const fetchFor =
  (server: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isSafe = url.protocol === 'https:' || url.origin === new URL(server).origin;
    if (isSafe) return fetch(input, init);
    throw new McpFailure('refused', `names ${url.origin} for its login, which has no TLS.`);
  };

async function allTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const listed = await client.listTools(cursor ? { cursor } : {}, { timeout: listTimeoutMs });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (!cursor) break;
  }
  return tools;
}

/** Returns a function that gives what a program’s standard error says about its end. */
function listen(transport: Transport): () => string {
  let said = '';
  if (transport instanceof StdioClientTransport) {
    const keep = (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000));
    transport.stderr?.on('data', keep);
  }
  const words = () => (transport instanceof ProgramTransport ? transport.lastOutput : said);
  return () => usefulOutput(words());
}

function failureOf(error: unknown, config: SavedTransport, printed: string): McpFailure {
  if (error instanceof McpFailure) return error;
  if (error instanceof AppError) return notStarted(error.message);
  if (error instanceof UnauthorizedError) {
    return new McpFailure('refused', 'requires a login: connect it again.');
  }
  if (error instanceof StreamableHTTPError) return httpFailure(error);
  if (error instanceof McpError) return protocolFailure(error, printed);
  return (
    connectFailure(error as ConnectError, config) ??
    new McpFailure('failed', `failed: ${error instanceof Error ? plain(error) : String(error)}`)
  );
}

const notStarted = (why: string): McpFailure =>
  new McpFailure('unreachable', `cannot be started: ${why}`);

function protocolFailure(error: McpError, output: string): McpFailure {
  if (error.code === (ErrorCode.RequestTimeout as number)) {
    return new McpFailure('timeout', 'did not respond in time.');
  }
  if (error.code === (ErrorCode.ConnectionClosed as number)) {
    const printed = output && ` Its last output: ${output}`;
    return new McpFailure('closed', `closed the connection.${printed}`);
  }
  return new McpFailure('failed', `answered: ${plain(error)}`);
}

/** Errors thrown by Node and fetch. */
interface ConnectError {
  code?: string;
  cause?: { code?: string; message?: string };
}

/**
 * Undefined for an error that does not concern the connection to the server. Sessions show the sentence to callers that
 * may not know the server’s address or command.
 */
function connectFailure(
  { code, cause }: ConnectError,
  config: SavedTransport,
): McpFailure | undefined {
  if (config.type === 'stdio') {
    if (code === 'ENOENT') return notStarted("its command does not exist on the server's host.");
    return code === 'EACCES' ? notStarted('its command is not executable.') : undefined;
  }
  if (!cause) return undefined;
  return new McpFailure('unreachable', `cannot be reached: ${cause.code ?? 'no response'}.`);
}

function httpFailure({ code, message }: StreamableHTTPError): McpFailure {
  if (code === 401 || code === 403) {
    return new McpFailure(
      'refused',
      `refused the request (${code}): check its headers, or log in to it.`,
    );
  }
  if (code === 404) {
    return new McpFailure('gone', 'has nothing at this address (404): check it.');
  }
  if (code === 405 || code === -1) {
    return new McpFailure('refused', 'does not speak MCP over HTTP at this address.');
  }
  return new McpFailure('failed', `answered ${code ?? 'an error'}: ${message.slice(0, 300)}`);
}

/** Removes the error number at the start of the SDK’s messages. */
const plain = ({ message }: Error): string =>
  message.replace(/^MCP error -?\d+: /, '').slice(0, 2_000);
