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

export type { CallToolResult, Tool };

/** Milliseconds. A first start of `npx` or `uvx` downloads the server. */
const connectTime = 30_000;
const listTime = 20_000;
const probeTime = 5_000;
/** A call may take so long without a word, and longer while it reports progress. */
const callTime = 120_000;
const callTimeAtMost = 30 * 60_000;
/** A server that never ends its list must not hold this one up. */
const mostPages = 50;

export interface ConnectOptions {
  transport: SavedTransport;
  fetch: typeof globalThis.fetch;
  /** Ends the attempt to connect. */
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
  const transport = open(config, options.fetch);
  const lastWords = transport instanceof StdioClientTransport ? listen(transport) : () => '';
  const failure = (error: unknown): McpFailure => failureOf(error, config, lastWords());
  const client = await connected(transport, signal).catch(async (error: unknown) => {
    const older = olderTransport(error, options);
    const second = older && (await connected(older, signal).catch(() => undefined));
    if (second) return second;
    throw failure(error);
  });
  let probing = false;
  let closed = false;
  client.onclose = () => {
    closed = true;
    options.onClosed();
  };
  // A stream that breaks fails no call by itself: it is asked whether the server is still there.
  client.onerror = () => {
    if (probing || closed) return;
    probing = true;
    client
      .ping({ timeout: probeTime })
      .catch(() => client.close())
      .catch(() => undefined)
      .finally(() => (probing = false));
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onToolsChanged());
  return {
    tools: () => allTools(client).catch((error: unknown) => Promise.reject(failure(error))),
    async call(name, input, signal) {
      try {
        const limits = {
          signal,
          timeout: callTime,
          maxTotalTimeout: callTimeAtMost,
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
  const client = new Client({ name: 'belay', version: '0.1.0' });
  try {
    await client.connect(transport, { timeout: connectTime, signal });
    return client;
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

/** As the protocol advises: a server that refuses a POST so may be one from before streamable HTTP. */
function olderTransport(
  error: unknown,
  { transport: config, fetch }: ConnectOptions,
): Transport | undefined {
  if (config.type !== 'http' || !(error instanceof StreamableHTTPError)) return undefined;
  if (![400, 404, 405].includes(error.code ?? 0)) return undefined;
  const requestInit = { headers: config.headers };
  return new SSEClientTransport(new URL(config.url), { requestInit, fetch });
}

function open(config: SavedTransport, fetch: typeof globalThis.fetch) {
  if (config.type === 'stdio') {
    // The SDK hands on PATH, HOME and the like, and none of the server's own variables.
    return new StdioClientTransport({ ...config, stderr: 'pipe' });
  }
  const requestInit = { headers: config.headers };
  return new StreamableHTTPClientTransport(new URL(config.url), { requestInit, fetch });
}

async function allTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const listed = await client.listTools(cursor ? { cursor } : {}, { timeout: listTime });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (!cursor) break;
  }
  return tools;
}

/** Answers the last line that the server wrote to its standard error. */
function listen(transport: StdioClientTransport): () => string {
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  return () => said.trim().split('\n').at(-1)?.trim() ?? '';
}

function failureOf(error: unknown, config: SavedTransport, lastWords: string): McpFailure {
  if (error instanceof StreamableHTTPError) return httpFailure(error);
  if (error instanceof McpError) {
    if (error.code === (ErrorCode.RequestTimeout as number)) {
      return new McpFailure('timeout', 'did not answer in time.');
    }
    if (error.code === (ErrorCode.ConnectionClosed as number)) {
      const words = lastWords && ` Its last words: ${lastWords.slice(0, 300)}`;
      return new McpFailure('closed', `ended the connection.${words}`);
    }
    return new McpFailure('failed', `answered: ${plain(error)}`);
  }
  const { code, cause } = error as { code?: string; cause?: { code?: string; message?: string } };
  if (code === 'ENOENT' && config.type === 'stdio') {
    const what = `the command ${config.command} is not there on the server's host.`;
    return new McpFailure('unreachable', `cannot be started: ${what}`);
  }
  if (code === 'EACCES' && config.type === 'stdio') {
    return new McpFailure('unreachable', `cannot be started: ${config.command} may not be run.`);
  }
  if (config.type === 'http' && cause) {
    const reason = cause.code ?? cause.message ?? 'no answer';
    return new McpFailure('unreachable', `cannot be reached at ${config.url}: ${reason}.`);
  }
  return new McpFailure(
    'failed',
    `failed: ${error instanceof Error ? plain(error) : String(error)}`,
  );
}

function httpFailure({ code, message }: StreamableHTTPError): McpFailure {
  if (code === 401 || code === 403) {
    return new McpFailure('refused', `refused the request (${code}): check its headers.`);
  }
  if (code === 404) {
    return new McpFailure('gone', 'has nothing at this address (404): check it.');
  }
  if (code === 405 || code === -1) {
    return new McpFailure('refused', 'does not speak MCP over HTTP at this address.');
  }
  return new McpFailure('failed', `answered ${code ?? 'an error'}: ${message.slice(0, 300)}`);
}

/** The SDK begins its messages with the number of the error. */
const plain = ({ message }: Error): string =>
  message.replace(/^MCP error -?\d+: /, '').slice(0, 2_000);
