import { Logger } from '@nestjs/common';
import {
  resultText,
  AppError,
  belayVersion,
  errorCodes,
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
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type CallToolResult,
  type ServerNotification,
  type Tool,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { assertMay, may, type Caller } from '../../access/caller.js';
import type { BlobStore } from '../../logs/blob-store.js';
import type { SessionCommands } from '../commands/session-commands.js';
import { tooManyRequests } from '../limits/request-budget.js';
import { sentError } from '../problem.js';
import { elicitationFor } from './mcp-elicitation.js';
import { resourceTemplates, type McpResources } from './mcp-resources.js';
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
const maxImages = 4;

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

/** `closed` is called once, whichever side closes the connection. */
export async function openMcpServer(
  id: string,
  { closed, ...parts }: McpServerParts & { closed: () => void },
): Promise<McpEndpoint> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => id });
  const server = createMcpServer(parts);
  server.onclose = closed;
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  return {
    handle: (request, response, body) => transport.handleRequest(request, response, body),
    hasBegun: () => transport.sessionId !== undefined,
    close: () => void server.close().catch(() => undefined),
  };
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
      ...(mayOperate() ? installedTools(parts.commands.installed()) : []),
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const installed = parts.commands.installed();
    let called: ToolCall = { name: params.name, input: params.arguments ?? {} };
    if (isMany(installed)) {
      try {
        if (searchTools.some(({ name }) => name === params.name))
          assertMay(parts.caller(), 'operate');
        const output = searched(called, installed);
        if (output) return foundOnes({ name: params.name, output });
        called = calledTool(called);
      } catch (error) {
        return failed(sentError(error, logger));
      }
    }
    const found = installed.find((one) => one.tool.name === called.name);
    const tool = mcpTools.get(params.name) ?? (found && toolOfInstalled(found));
    if (!tool) {
      throw new McpError(ErrorCode.InvalidParams, `There is no tool ${called.name.slice(0, 100)}.`);
    }
    if (underWay >= maxUnderWay) return failed(tooManyRequests());
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
      return await succeeded(parts.blobs, { name, output, session, images: images(output) });
    } catch (error) {
      return failed(sentError(error, logger));
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

const foundOnes = ({ name, output }: { name: string; output: object }): CallToolResult => ({
  content: [{ type: 'text', text: resultText({ operation: name, output }) }],
  structuredContent: { ...output },
});

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

  constructor(private readonly extra: Extra) {
    this.#token = extra._meta?.progressToken;
    if (this.#token === undefined) return;
    this.#timer = setInterval(() => {
      const seconds = Math.round((performance.now() - this.#began) / 1_000);
      this.#report(`${seconds} s`);
    }, progressMs).unref();
  }

  event({ seq, action, message }: Event): void {
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

interface Succeeded {
  name: string;
  output: unknown;
  /** The session of the pictures; empty for a call without a session, whose output names only its own. */
  session: string;
  images: readonly string[];
}

const sessionIn = (input: Record<string, unknown> | undefined): string =>
  typeof input?.['session'] === 'string' ? input['session'] : '';

async function succeeded(
  blobs: BlobStore,
  { name, output, session, images }: Succeeded,
): Promise<CallToolResult> {
  const pictures = await Promise.all(
    images.slice(0, maxImages).map(async (blob) => {
      const stored = session === '' ? blobs.get(blob) : blobs.getOf(session, blob);
      const { type, bytes } = await stored;
      return { type: 'image' as const, mimeType: type, data: bytes.toString('base64') };
    }),
  );
  const text = resultText({ operation: name, output });
  const structuredContent = { ...Object(output) } as Record<string, unknown>;
  return { content: [{ type: 'text', text }, ...pictures], structuredContent };
}

const failed = ({ code, message }: AppError): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: message }],
  structuredContent: { code, status: errorCodes[code].http, detail: message },
});
