import { Logger } from '@nestjs/common';
import {
  belayVersion,
  fieldsOfTool,
  ignoreError,
  mostListed,
  type Event,
  type InstalledOperation,
} from '@belay/protocol';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ErrorCode,
  isInitializeRequest,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type ServerNotification,
  type Tool,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { may, type Caller } from '../../access/caller.js';
import type { BlobStore } from '../../logs/blob-store.js';
import type { SessionCommands } from '../commands/session-commands.js';
import { tooManyRequests } from '../limits/request-budget.js';
import { sentError } from '../problem.js';
import { elicitationFor } from './mcp-elicitation.js';
import { resourceTemplates, type McpResources } from './mcp-resources.js';
import { toolFailure, toolResult } from './mcp-results.js';
import {
  calledTool,
  mcpTools,
  searched,
  searchTools,
  toolOfInstalled,
  type ToolCall,
} from './mcp-tools.js';

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const maxUnderWay = 32;
const progressMs = 5_000;
/** How long a user may take to answer a question. */
const elicitationMs = 10 * 60_000;
/** Characters. */
const maxInitialization = 16_384;

const instructions = `Belay runs coding agents, each in a sandbox of its own. session_start begins one with a task; call session_wait with its id, and with the number of the last event, until its state is finished, failed, limited or stopped. When it waits for the user, answer its question with session_message, and an approval with session_answer. The other tools act in the sandbox of a session: files, terminals, browser, changes (workspace_diff).`;

export interface McpServerParts {
  commands: SessionCommands;
  resources: McpResources;
  blobs: BlobStore;
  /** The current caller; its rights can change while the client is connected. */
  caller: () => Caller;
}

/** The server of one client, as it is used by requests. */
export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  /** Whether a client has been initialized. */
  hasBegun(): boolean;
  close(): void;
}

export interface McpServerOptions extends McpServerParts {
  /** Called once, whichever side closes the connection. */
  closed: () => void;
  /** Of a client that another server has initialized: see `initializationOf`. */
  initialization?: string | undefined;
}

export async function openMcpServer(
  id: string,
  { closed, initialization, ...parts }: McpServerOptions,
): Promise<McpEndpoint> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
  const server = createMcpServer(parts);
  server.onclose = closed;
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  if (initialization !== undefined) await initialize(transport, initialization);
  return {
    handle: (request, response, body) => transport.handleRequest(request, response, body),
    hasBegun: () => transport.sessionId !== undefined,
    close: () => void server.close().catch(() => undefined),
  };
}

/**
 * What a client says of itself when it initializes, with which another server can go on with it; undefined for any other
 * message, and for more than is stored.
 */
export function initializationOf(body: unknown): string | undefined {
  if (!isInitializeRequest(body)) return undefined;
  const { method, params } = body;
  const { protocolVersion, capabilities, clientInfo } = params;
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method,
    params: { protocolVersion, capabilities, clientInfo },
  });
  return text.length <= maxInitialization ? text : undefined;
}

/** The SDK has no other way to go on with a client that it has not initialized itself. */
async function initialize(
  transport: StreamableHTTPServerTransport,
  initialization: string,
): Promise<void> {
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers,
    body: initialization,
  });
  const response = await transport['_webStandardTransport'].handleRequest(request);
  await response.text();
}

/** One client’s MCP server. Its tools are the operations and the commands on sessions. */
function createMcpServer(parts: McpServerParts): Server {
  const logger = new Logger('Mcp');
  const server = new Server(
    { name: 'belay', title: 'Belay', version: belayVersion },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  let underWay = 0;
  const mayOperate = (): boolean => may(parts.caller(), 'operate');
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...[...mcpTools.values()]
        .map(({ tool }) => tool)
        .filter(({ annotations }) => annotations?.readOnlyHint || mayOperate()),
      ...installedTools(parts.commands.installed(parts.caller())),
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const installed = parts.commands.installed(parts.caller());
    let called: ToolCall = { name: params.name, input: params.arguments ?? {} };
    if (isMany(installed)) {
      try {
        const output = searched(called, installed);
        if (output) return await toolResult(parts.blobs, { output, session: '', images: [] });
        called = calledTool(called);
      } catch (error) {
        return toolFailure(sentError(error, logger));
      }
    }
    const found = installed.find((one) => one.tool.name === called.name);
    const tool = mcpTools.get(params.name) ?? (found && toolOfInstalled(found));
    if (!tool) {
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${called.name.slice(0, 100)}.`);
    }
    if (underWay >= maxUnderWay) return toolFailure(tooManyRequests());
    underWay += 1;
    const progress = new Progress(extra);
    try {
      const { name, images } = tool.target;
      const call = { name, input: called.input, signal: extra.signal };
      const run = () =>
        parts.commands.call(parts.caller(), { ...call, onEvent: (event) => progress.event(event) });
      const output = await settled({ server, parts, extra, run });
      const isOwnField = found && Object.hasOwn(fieldsOfTool(found.tool), 'session');
      const session = isOwnField ? '' : sessionIn(called.input);
      return await toolResult(parts.blobs, { output, session, images: images(output) });
    } catch (error) {
      return toolFailure(sentError(error, logger));
    } finally {
      progress.end();
      underWay -= 1;
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: await parts.resources.list(parts.caller()),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, { signal }) => {
    try {
      return { contents: await parts.resources.read(parts.caller(), params.uri, signal) };
    } catch (error) {
      const { code, message } = sentError(error, logger);
      const number = code === 'not_found' ? resourceNotFound : ErrorCode.InvalidRequest;
      throw new McpError(number, message, { code });
    }
  });
  return server;
}

const resourceNotFound = -32_002;

const isMany = (installed: readonly InstalledOperation[]): boolean => installed.length > mostListed;

/** A tool for each of a few installed operations; for many, the search tools. */
const installedTools = (installed: readonly InstalledOperation[]): readonly Tool[] =>
  isMany(installed) ? searchTools : installed.map((one) => toolOfInstalled(one).tool);

interface Waiting {
  server: Server;
  parts: McpServerParts;
  extra: Extra;
  run: () => Promise<unknown>;
}

/**
 * The result of a call. If it waits for the user, the client asks, provided that it can show forms; the answer is
 * carried out, and the call repeated. Nothing is asked for a caller who may not answer.
 */
async function settled({ server, parts, extra, run }: Waiting): Promise<unknown> {
  const asked = new Set<string>();
  for (;;) {
    const output = await run();
    const question = elicitationFor(output);
    const canAsk = server.getClientCapabilities()?.elicitation !== undefined;
    const isNew = question && !asked.has(question.key);
    if (!isNew || !canAsk || !may(parts.caller(), 'operate')) return output;
    asked.add(question.key);
    const { params } = question;
    const answer = await extra
      .sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema, {
        signal: extra.signal,
        timeout: elicitationMs,
      })
      .catch(ignoreError('a client that does not answer leaves the question open'));
    const command = answer && question.commandFor(answer);
    if (!command) return output;
    await parts.commands
      .call(parts.caller(), { ...command, signal: extra.signal })
      .catch(ignoreError('somebody else has answered meanwhile'));
  }
}

/** Reports the progress of a call to clients that request it: each event of a wait, otherwise the seconds. */
class Progress {
  readonly #token: string | number | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #began = performance.now();
  #count = 0;
  #seen = 0;

  constructor(private readonly extra: Extra) {
    this.#token = extra._meta?.progressToken;
    if (this.#token === undefined) return;
    this.#timer = setInterval(() => {
      const seconds = Math.round((performance.now() - this.#began) / 1_000);
      this.#report(`${seconds} s`);
    }, progressMs).unref();
  }

  /** A wait that is repeated after an answer sees earlier events again. */
  event({ seq, action, message }: Event): void {
    if (seq <= this.#seen) return;
    this.#seen = seq;
    this.#report(`${seq} ${action}: ${message}`.slice(0, 300));
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #report(message: string): void {
    if (this.#token === undefined) return;
    this.#count += 1;
    const params = { progressToken: this.#token, progress: this.#count, message };
    this.extra
      .sendNotification({ method: 'notifications/progress', params })
      .catch(ignoreError('the client is gone'));
  }
}

const sessionIn = (input: Record<string, unknown> | undefined): string =>
  typeof input?.['session'] === 'string' ? input['session'] : '';
