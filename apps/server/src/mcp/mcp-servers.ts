import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  AppError,
  errorFrom,
  type Check,
  type McpServer,
  type mcpServerChange,
  type McpTool,
  type newMcpServer,
} from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { outgoingFetch } from '../models/outgoing-fetch.js';
import { PrivateFile } from '../storage/private-file.js';
import {
  changedConfig,
  mcpConfig,
  shownTransport,
  withSecrets,
  type McpConfig,
} from './mcp-config.js';
import type { CallToolResult } from './mcp.client.js';
import { McpLink } from './mcp-link.js';

/** Milliseconds for which a session waits for a server that it did not name. */
const patience = 5_000;

/** The tools of a session to be, and the servers that it has to do without. */
export interface SessionTools {
  tools: McpTool[];
  missing: { server: string; error: string }[];
}

/**
 * The MCP servers that a person has connected, with their secrets in a file of the server's user alone. Changes
 * count for sessions to come; a session keeps the tools that it began with.
 */
@Injectable()
export class McpServers implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly file: PrivateFile<z.ZodArray<typeof mcpConfig>>;
  private configs: readonly McpConfig[];
  private readonly links = new Map<string, McpLink>();

  constructor(private readonly config: Config) {
    this.file = new PrivateFile(join(config.data, 'mcp.json'), z.array(mcpConfig));
    this.configs = this.file.read() ?? [];
  }

  onApplicationBootstrap(): void {
    for (const config of this.configs) void this.link(config);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.links.values()].map((link) => link.close()));
  }

  list(): McpServer[] {
    return this.configs.map((config) => this.shown(config));
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
    const { name } = wanted;
    if (this.find(name)) throw new AppError('conflict', `There is an MCP server ${name} already.`);
    const config = { ...wanted, transport: withSecrets(wanted.transport, null) };
    await this.save([...this.configs, config]);
    return this.connected(config);
  }

  /** Answers when it is connected anew, or has failed to. */
  async change(name: string, change: z.output<typeof mcpServerChange>): Promise<McpServer> {
    const before = this.known(name);
    const config = changedConfig(before, change);
    await this.save(this.configs.map((one) => (one === before ? config : one)));
    const sameLink = config.enabled === before.enabled && config.transport === before.transport;
    return sameLink ? this.shown(config) : this.connected(config);
  }

  async remove(name: string): Promise<void> {
    const config = this.known(name);
    await this.save(this.configs.filter((one) => one !== config));
    await this.unlink(name);
  }

  /** Connects anew, so that a person sees whether it works. */
  async test(name: string): Promise<McpServer> {
    return this.connected(this.known(name));
  }

  /**
   * The tools for a session. Servers that are named must be there; of all those that are enabled one that fails is
   * left out, and one that was away before is not waited for.
   */
  async toolsFor(names: readonly string[] | undefined): Promise<SessionTools> {
    const configs = names
      ? [...new Set(names)].map((name) => this.known(name))
      : this.configs.filter(({ enabled }) => enabled);
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
    const config = this.known(server);
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
    return link.tools
      .filter(({ name }) => !config.tools || config.tools.includes(name))
      .map(({ name, title, annotations, description, inputSchema }) => ({
        server: config.name,
        name,
        ...((title ?? annotations?.title) && { title: title ?? annotations?.title }),
        description: description ?? '',
        inputSchema: { ...inputSchema },
      }));
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
        title: tool.title ?? tool.annotations?.title ?? tool.name,
        description: tool.description ?? '',
        readOnly: tool.annotations?.readOnlyHint ?? false,
      })),
    };
  }

  private find(name: string): McpConfig | undefined {
    return this.configs.find((config) => config.name === name);
  }

  private known(name: string): McpConfig {
    const config = this.find(name);
    if (config) return config;
    throw new AppError('not_found', `There is no MCP server ${name} in the settings.`);
  }

  private async save(configs: readonly McpConfig[]): Promise<void> {
    await this.file.write([...configs]);
    this.configs = configs;
  }
}

/** A program that is downloaded first must not hold up a session that did not ask for it. */
async function soon({ name }: McpConfig, connected: Promise<void>): Promise<void> {
  const late = sleep(patience, undefined, { ref: false }).then(() => {
    throw new AppError('timeout', `The MCP server ${name} is still being connected.`);
  });
  await Promise.race([connected, late]);
}
