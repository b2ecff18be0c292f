import { AppError, ignoreError, type McpServer } from '@belay/protocol';
import { secretsOf, type McpConfig } from './mcp-config.js';
import type { CallToolResult, McpConnection, Tool } from './mcp.client.js';
import type { McpLogin } from './mcp-logins.store.js';
import { McpFailure } from './mcp-failure.js';
import type { ProgramRunner } from '../programs/program.js';

/** Milliseconds before the first retry; the delay doubles up to the maximum. */
const firstRetryDelayMs = 1_000;
const longestRetryDelayMs = 60_000;

const codes = {
  refused: 'unavailable',
  unreachable: 'unavailable',
  gone: 'unavailable',
  closed: 'unavailable',
  timeout: 'timeout',
  failed: 'tool_failed',
} as const;

/** Services needed to reach a server. */
export interface LinkServices {
  fetch: typeof globalThis.fetch;
  programs: ProgramRunner;
  /** The user’s login at the server. */
  login?: McpLogin | undefined;
}

/** Keeps one MCP server connected, and stores its tools. */
export class McpLink {
  state: McpServer['state'] = 'connecting';
  /** Why it is not connected, in one sentence. */
  error: string | null = null;
  /** The latest list of tools; kept while the server is disconnected. */
  tools: readonly Tool[] = [];
  #connection: Promise<McpConnection> | undefined;
  #failures = 0;
  #retry: NodeJS.Timeout | undefined;
  /** The connection in use. */
  #current: McpConnection | undefined;
  readonly #ending = new AbortController();

  constructor(
    private readonly config: McpConfig,
    private readonly services: LinkServices,
  ) {}

  /** Resolves when it is connected and its tools are known. Throws `unavailable` or `timeout` with a sentence. */
  async connect(): Promise<void> {
    await this.#connected();
  }

  /** Throws `unavailable`, `timeout`, `tool_failed`; when `signal` aborts, its reason. */
  async call(
    tool: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const once = async () => (await this.#connected()).call(tool, input, signal);
    try {
      return await once().catch(async (error: unknown) => {
        // The server restarted and does not know this connection: the call was not begun.
        if (!(error instanceof McpFailure && error.kind === 'gone')) throw error;
        await this.#drop();
        return once();
      });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#told(error);
    }
  }

  async close(): Promise<void> {
    this.#ending.abort(new McpFailure('closed', 'was disabled.'));
    clearTimeout(this.#retry);
    await this.#drop();
  }

  #connected(): Promise<McpConnection> {
    const { signal } = this.#ending;
    if (signal.aborted) return Promise.reject(this.#told(signal.reason));
    return (this.#connection ??= this.#open());
  }

  async #open(): Promise<McpConnection> {
    clearTimeout(this.#retry);
    let connection: McpConnection | undefined;
    const { transport } = this.config;
    try {
      const fault = transport.type === 'stdio' ? transport.installed?.fault : undefined;
      if (fault !== undefined) throw new AppError('unavailable', fault);
      // The SDK is loaded with the first MCP server, because most installations have none.
      const { connectMcp } = await import('./mcp.client.js');
      connection = await connectMcp({
        name: this.config.name,
        transport,
        ...this.services,
        signal: this.#ending.signal,
        onToolsChanged: () => void this.#listAnew(connection),
        onClosed: () => this.#lost(connection),
      });
      this.tools = await connection.tools();
      this.#current = connection;
      this.state = 'connected';
      this.error = null;
      this.#failures = 0;
      return connection;
    } catch (error) {
      this.#fail(error);
      await connection?.close().catch(ignoreError('the first failure is reported'));
      throw this.#told(error);
    }
  }

  /** The new list applies to later sessions. */
  async #listAnew(connection: McpConnection | undefined): Promise<void> {
    try {
      if (connection) this.tools = await connection.tools();
    } catch (error) {
      this.error = this.#told(error).message;
    }
  }

  #lost(connection: McpConnection | undefined): void {
    // A connection that is being opened or was dropped is not the current one.
    if (!connection || connection !== this.#current) return;
    this.#fail(new McpFailure('closed', 'closed the connection.'));
  }

  #fail(error: unknown): void {
    this.#connection = undefined;
    this.#current = undefined;
    this.state = 'failed';
    this.error = this.#told(error).message;
    if (this.#ending.signal.aborted) return;
    const delayMs = Math.min(longestRetryDelayMs, firstRetryDelayMs * 2 ** this.#failures);
    this.#failures += 1;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(
      () => void this.connect().catch(ignoreError('the state of the link has the error')),
      delayMs,
    ).unref();
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#current = undefined;
    await connection?.then((open) => open.close()).catch(ignoreError('it is dropped all the same'));
  }

  /** The error as an `AppError`, without configured secrets. */
  #told(error: unknown): AppError {
    if (error instanceof AppError) return error;
    const { kind, message } =
      error instanceof McpFailure ? error : new McpFailure('failed', `failed: ${String(error)}`);
    let sentence = `The MCP server ${this.config.name} ${message}`;
    for (const secret of secretsOf(this.config.transport)) {
      if (secret.length >= 4) sentence = sentence.replaceAll(secret, '…');
    }
    return new AppError(codes[kind], sentence);
  }
}
