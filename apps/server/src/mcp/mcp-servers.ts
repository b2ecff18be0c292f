import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  mcpTool,
  pluralText,
  type Check,
  type McpServer,
  type mcpServerChange,
  type McpTool,
  type newMcpServer,
} from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { z } from 'zod';
import type { OnWork } from '../storage/on-lead.js';
import { Config } from '../config.js';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import { McpPrograms } from '../programs/mcp-programs.js';
import { shownTransport, withSecrets, type McpConfig } from './mcp-config.js';
import type { CallToolResult, Tool } from './mcp.client.js';
import { McpLogins, type McpLogin } from './mcp-logins.store.js';
import { McpLink } from './mcp-link.js';
import { isSameTool } from './same-tool.js';
import { McpStore } from './mcp.store.js';

/** Milliseconds that a session waits for a server that it did not name. */
const connectTimeoutMs = 5_000;

/** The tools of a new session, and the servers that are missing. */
export interface SessionTools {
  tools: McpTool[];
  missing: { server: string; error: string }[];
}

/**
 * Keeps the MCP servers in the settings connected. Changes apply to new sessions; each session keeps the tools that it
 * began with.
 */
@Injectable()
export class McpServers implements OnWork, OnApplicationShutdown {
  readonly #links = new Map<string, McpLink>();
  /** Servers that are installed as actions, by name. */
  readonly #installed = new Map<string, McpConfig>();

  constructor(
    private readonly config: Config,
    private readonly store: McpStore,
    private readonly logins: McpLogins,
    private readonly programs: McpPrograms,
  ) {}

  /** Each server has its own connections, and follows what another one changes in the settings. */
  onWork(): void {
    for (const config of this.store.all) void this.#link(config);
    this.store.onRead((before) => {
      const { all } = this.store;
      for (const { name } of before)
        if (!all.some((one) => one.name === name)) void this.#unlink(name);
      for (const config of all)
        if (!before.some((one) => isDeepStrictEqual(one, config))) void this.#link(config);
    });
    this.logins.onRead((names) => {
      for (const config of this.store.all) if (names.includes(config.name)) void this.#link(config);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
  }

  list(): McpServer[] {
    return this.#all.map((config) => this.#shown(config));
  }

  /**
   * Connects a server that is installed as an action, and replaces its earlier configuration; null ends it. Never
   * rejects.
   */
  async install(name: string, config: McpConfig | null): Promise<void> {
    if (config) this.#installed.set(name, config);
    else this.#installed.delete(name);
    await (config ? this.#link(config) : this.#unlink(name));
  }

  get #all(): readonly McpConfig[] {
    return [...this.store.all, ...this.#installed.values()];
  }

  #known(name: string): McpConfig {
    return this.#installed.get(name) ?? this.store.known(name);
  }

  #assertOfSettings(name: string): void {
    if (this.#installed.has(name))
      throw new AppError('conflict', `${name} is installed as an action: change it there.`);
  }

  /** One line for the doctor for each enabled server. */
  checks(): Check[] {
    return this.list()
      .filter(({ enabled }) => enabled)
      .map(({ name, state, error, offered, installed }) => ({
        name: `MCP server ${name}`,
        ok: state === 'connected',
        detail:
          error ??
          (state === 'connected'
            ? `It has ${pluralText(offered.length, 'tool')}.`
            : 'It is being connected.'),
        remedy: `Fix or disable it under ${installed ? `Actions → ${name}` : 'Settings → MCP servers'}; sessions begin without it.`,
      }));
  }

  async create(wanted: z.output<typeof newMcpServer>): Promise<McpServer> {
    this.#assertOfSettings(wanted.name);
    const config = { ...wanted, transport: withSecrets(wanted.transport, null) };
    await this.store.add(config);
    return this.#connected(config);
  }

  /** Resolves when the server is connected again, or has failed to connect. */
  async change(name: string, change: z.output<typeof mcpServerChange>): Promise<McpServer> {
    this.#assertOfSettings(name);
    const config = await this.store.change(name, change);
    const isOther = change.transport !== undefined || change.enabled !== undefined;
    return isOther ? this.#connected(config) : this.#shown(config);
  }

  async remove(name: string): Promise<void> {
    this.#assertOfSettings(name);
    await this.store.remove(name);
    await this.logins.remove(name);
    await this.#unlink(name);
  }

  /** Begins a login at a remote server (OAuth); returns the page where the user continues. */
  async beginLogin(name: string, redirect: string): Promise<string> {
    const { transport } = this.#known(name);
    if (transport.type !== 'http') {
      throw new AppError(
        'invalid_input',
        `${name} is a program: only servers at an address have a login.`,
      );
    }
    const { url } = transport;
    const page = await this.#signIn(name, this.logins.begin(name, { url, redirect }), { url });
    if (page) return page.href;
    throw new AppError('conflict', `${name} requires no login.`);
  }

  /** Completes the login that the state belongs to, and reconnects. */
  async finishLogin(state: string, code: string): Promise<McpServer> {
    const { name, provider } = await this.logins.take(state);
    const { transport } = this.store.known(name);
    const url = transport.type === 'http' ? transport.url : '';
    await this.#signIn(name, provider, { url, code });
    return this.#connected(this.store.known(name));
  }

  async #signIn(name: string, login: McpLogin, to: { url: string; code?: string }) {
    // The SDK is loaded on demand, because most installations have no MCP server.
    const { signIn } = await import('./mcp.client.js');
    const fetch = outgoingFetch(this.config.environment);
    return signIn(login, { ...to, fetch }).catch((error: unknown) => {
      throw new AppError('unavailable', `The MCP server ${name} ${errorFrom(error).message}`);
    });
  }

  /** Reconnects, so that the user sees whether it works. */
  async test(name: string): Promise<McpServer> {
    return this.#connected(this.#known(name));
  }

  /**
   * The tools for a session. Named servers must be available. Without names, failing servers are left out, and those
   * that were unavailable before are not waited for.
   */
  async toolsFor(names: readonly string[] | undefined): Promise<SessionTools> {
    const configs = names
      ? [...new Set(names)].map((name) => this.#known(name))
      : this.#all.filter(({ enabled }) => enabled);
    const found: SessionTools = { tools: [], missing: [] };
    const attempts = configs.map((config) => this.#toolsOf(config, names !== undefined));
    for (const [index, attempt] of (await Promise.allSettled(attempts)).entries()) {
      if (attempt.status === 'fulfilled') found.tools.push(...attempt.value);
      else if (names) throw attempt.reason;
      else {
        const error = errorFrom(attempt.reason).message;
        found.missing.push({ server: configs[index]?.name ?? '', error });
      }
    }
    return found;
  }

  /** The tools of connected servers that are installed as actions. */
  installedTools(): McpTool[] {
    return [...this.#installed.values()].flatMap((config) => {
      const link = config.enabled ? this.#links.get(config.name) : undefined;
      return link?.state === 'connected' ? chosenTools(config, link.tools) : [];
    });
  }

  /**
   * Throws one sentence: not_found, unavailable, timeout, tool_failed, `conflict` for a tool whose description changed
   * since the session began; when `signal` aborts, its reason.
   */
  async call(
    tool: McpTool,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const { server, name } = tool;
    const config = this.#known(server);
    if (config.tools && !config.tools.includes(name)) {
      throw new AppError('rejected', `The user disabled the tool ${name} of ${server}.`);
    }
    const link = this.#enabledLink(config);
    await link
      .connect()
      .catch(ignoreError('a server that is gone has no list, and the call fails'));
    const offers = link.tools.some((one) => one.name === name);
    if (offers && !isSameTool(tool, link.tools)) {
      throw new AppError(
        'conflict',
        `The MCP server ${server} has changed its tool ${name} since this session began. Start a new session to use it as it is now.`,
      );
    }
    return link.call(name, input, signal);
  }

  async #toolsOf(config: McpConfig, isNamed: boolean): Promise<McpTool[]> {
    const link = this.#enabledLink(config);
    if (link.state === 'failed' && !isNamed) {
      throw new AppError('unavailable', link.error ?? `${config.name} is not connected.`);
    }
    await (isNamed ? link.connect() : soon(config, link.connect()));
    return chosenTools(config, link.tools);
  }

  #enabledLink({ name }: McpConfig): McpLink {
    const link = this.#links.get(name);
    if (link) return link;
    throw new AppError('conflict', `The MCP server ${name} is disabled in the settings.`);
  }

  async #connected(config: McpConfig): Promise<McpServer> {
    await this.#link(config);
    return this.#shown(config);
  }

  /** Resolves when it has connected or failed; its state has the error. */
  async #link(config: McpConfig): Promise<void> {
    const old = this.#unlink(config.name);
    if (!config.enabled) return old;
    const { name, transport } = config;
    const login = transport.type === 'http' ? this.logins.of(name, transport.url) : undefined;
    const fetch = outgoingFetch(this.config.environment);
    const link = new McpLink(config, { fetch, programs: this.programs, login });
    this.#links.set(config.name, link);
    await Promise.all([
      old,
      link.connect().catch(ignoreError('the state of the link has the error')),
    ]);
  }

  async #unlink(name: string): Promise<void> {
    const link = this.#links.get(name);
    this.#links.delete(name);
    await link?.close();
  }

  #shown({ name, transport, enabled, tools }: McpConfig): McpServer {
    const link = this.#links.get(name);
    return {
      name,
      ...(this.#installed.has(name) && { installed: true }),
      transport: shownTransport(transport),
      enabled,
      tools,
      state: link?.state ?? 'off',
      error: link?.error ?? null,
      offered: (link?.tools ?? []).map((tool) => ({
        name: tool.name,
        title: titleOf(tool) ?? tool.name,
        description: tool.description ?? '',
        readOnly: tool.annotations?.readOnlyHint ?? false,
      })),
    };
  }
}

/** Control and bidirectional characters, with which a name could look like another one. */
const hidden = /[\p{C}\p{Zl}\p{Zp}]/u;

const titleOf = ({ title, annotations }: Tool): string | undefined => title ?? annotations?.title;

const offered = ({ name: server, transport }: McpConfig, tool: Tool): z.input<typeof mcpTool> => ({
  server,
  ...('installed' in transport && transport.installed && { installed: true }),
  name: tool.name,
  title: titleOf(tool),
  description: tool.description ?? '',
  inputSchema: tool.inputSchema,
});

function chosenTools(config: McpConfig, tools: readonly Tool[]): McpTool[] {
  const chosen = tools.filter(
    ({ name }) => !hidden.test(name) && (!config.tools || config.tools.includes(name)),
  );
  const valid = chosen.flatMap((tool) => mcpTool.safeParse(offered(config, tool)).data ?? []);
  // Providers refuse two tools with the same name.
  return [...new Map(valid.map((tool) => [tool.name, tool])).values()];
}

/** The first download of a program must not delay sessions that did not name it. */
function soon({ name }: McpConfig, connected: Promise<void>): Promise<void> {
  return inTime(connected, connectTimeoutMs, () => {
    throw new AppError('timeout', `The MCP server ${name} is still being connected.`);
  });
}
