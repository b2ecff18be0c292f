import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  AppError,
  errorFrom,
  mcpTool,
  type Check,
  type McpServer,
  type mcpServerChange,
  type McpTool,
  type newMcpServer,
} from '@belay/protocol';
import type { z } from 'zod';
import { Config } from '../config.js';
import { outgoingFetch } from '../models/outgoing-fetch.js';
import { shownTransport, withSecrets, type McpConfig } from './mcp-config.js';
import type { CallToolResult, Tool } from './mcp.client.js';
import { McpLink } from './mcp-link.js';
import { McpStore } from './mcp.store.js';

/** Milliseconds for which a session waits for a server that it did not name. */
const patience = 5_000;

/** The tools of a session to be, and the servers that it has to do without. */
export interface SessionTools {
  tools: McpTool[];
  missing: { server: string; error: string }[];
}

/**
 * Keeps the MCP servers of the settings connected. Changes count for sessions to come: each keeps the tools that
 * it began with.
 */
@Injectable()
export class McpServers implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly links = new Map<string, McpLink>();

  constructor(
    private readonly config: Config,
    private readonly store: McpStore,
  ) {}

  onApplicationBootstrap(): void {
    for (const config of this.store.all) void this.link(config);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.links.values()].map((link) => link.close()));
  }

  list(): McpServer[] {
    return this.store.all.map((config) => this.shown(config));
  }

  /** For the doctor: one line for each that is enabled. */
  checks(): Check[] {
    return this.list()
      .filter(({ enabled }) => enabled)
      .map(({ name, state, error, offered }) => ({
        name: `MCP server ${name}`,
        ok: state === 'connected',
        detail:
          error ??
          (state === 'connected' ? `It has ${offered.length} tools.` : 'It is being connected.'),
        remedy: 'Mend it or turn it off under Settings → MCP servers; sessions begin without it.',
      }));
  }

  async create(wanted: z.output<typeof newMcpServer>): Promise<McpServer> {
    const config = { ...wanted, transport: withSecrets(wanted.transport, null) };
    await this.store.add(config);
    return this.connected(config);
  }

  /** Answers when it is connected anew, or has failed to. */
  async change(name: string, change: z.output<typeof mcpServerChange>): Promise<McpServer> {
    const config = await this.store.change(name, change);
    const isOther = change.transport !== undefined || change.enabled !== undefined;
    return isOther ? this.connected(config) : this.shown(config);
  }

  async remove(name: string): Promise<void> {
    await this.store.remove(name);
    await this.unlink(name);
  }

  /** Connects anew, so that a person sees whether it works. */
  async test(name: string): Promise<McpServer> {
    return this.connected(this.store.known(name));
  }

  /**
   * The tools for a session. Servers that are named must be there; of all those that are enabled one that fails is
   * left out, and one that was away before is not waited for.
   */
  async toolsFor(names: readonly string[] | undefined): Promise<SessionTools> {
    const configs = names
      ? [...new Set(names)].map((name) => this.store.known(name))
      : this.store.all.filter(({ enabled }) => enabled);
    const found: SessionTools = { tools: [], missing: [] };
    const attempts = configs.map((config) => this.toolsOf(config, names !== undefined));
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

  /** Throws one sentence: not_found, unavailable, timeout, tool_failed; when `signal` aborts, its reason. */
  async call(
    { server, name }: Pick<McpTool, 'server' | 'name'>,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    const config = this.store.known(server);
    if (config.tools && !config.tools.includes(name)) {
      throw new AppError('rejected', `The person has turned the tool ${name} of ${server} off.`);
    }
    return this.enabledLink(config).call(name, input, signal);
  }

  private async toolsOf(config: McpConfig, patient: boolean): Promise<McpTool[]> {
    const link = this.enabledLink(config);
    if (link.state === 'failed' && !patient) {
      throw new AppError('unavailable', link.error ?? `${config.name} is not connected.`);
    }
    await (patient ? link.connect() : soon(config, link.connect()));
    const chosen = link.tools.filter(({ name }) => !config.tools || config.tools.includes(name));
    const tools = chosen.flatMap(
      (tool) => mcpTool.safeParse(offered(config.name, tool)).data ?? [],
    );
    // Providers refuse two of one name.
    return [...new Map(tools.map((tool) => [tool.name, tool])).values()];
  }

  private enabledLink({ name }: McpConfig): McpLink {
    const link = this.links.get(name);
    if (link) return link;
    throw new AppError('unavailable', `The MCP server ${name} is turned off in the settings.`);
  }

  private async connected(config: McpConfig): Promise<McpServer> {
    await this.link(config);
    return this.shown(config);
  }

  /** Resolves when it is connected or has failed to; what went wrong is its state. */
  private async link(config: McpConfig): Promise<void> {
    const old = this.unlink(config.name);
    if (!config.enabled) return old;
    const link = new McpLink(config, outgoingFetch(this.config.environment));
    this.links.set(config.name, link);
    await Promise.all([old, link.connect().catch(() => undefined)]);
  }

  private async unlink(name: string): Promise<void> {
    const link = this.links.get(name);
    this.links.delete(name);
    await link?.close();
  }

  private shown({ name, transport, enabled, tools }: McpConfig): McpServer {
    const link = this.links.get(name);
    return {
      name,
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

const titleOf = ({ title, annotations }: Tool): string | undefined => title ?? annotations?.title;

const offered = (server: string, tool: Tool): z.input<typeof mcpTool> => ({
  server,
  name: tool.name,
  title: titleOf(tool),
  description: tool.description ?? '',
  inputSchema: tool.inputSchema,
});

/** A program that is downloaded first must not hold up a session that did not ask for it. */
async function soon({ name }: McpConfig, connected: Promise<void>): Promise<void> {
  const late = sleep(patience, undefined, { ref: false }).then(() => {
    throw new AppError('timeout', `The MCP server ${name} is still being connected.`);
  });
  await Promise.race([connected, late]);
}
