import { Injectable } from '@nestjs/common';
import { AppError, type McpServer } from '@belay/protocol';
import type { OnWork } from '../storage/on-lead.js';
import type { McpConfig } from '../mcp/mcp-config.js';
import { McpServers } from '../mcp/mcp-servers.js';
import type { ActionRecord } from './action-record.js';
import { ActionStore } from './action.store.js';

/** Connects the MCP servers that are installed as actions, like those in the settings. */
@Injectable()
export class InstalledServers implements OnWork {
  constructor(
    private readonly store: ActionStore,
    private readonly servers: McpServers,
  ) {}

  /** Each server has its own connections, and follows what another one installs. */
  onWork(): void {
    for (const { name, kind } of this.store.all) if (kind === 'mcp') void this.refresh(name);
    this.store.onRead((changed) => {
      for (const name of changed) void this.refresh(name);
    });
  }

  /** Throws `conflict` when the settings have an MCP server of this name. */
  assertFree(name: string): void {
    if (this.servers.list().some((one) => one.name === name && !one.installed))
      throw new AppError(
        'conflict',
        `An MCP server named ${name} is already in the settings. Remove or rename it first.`,
      );
  }

  /** The server’s state; undefined for an action that is not an MCP server. */
  stateOf(name: string): McpServer | undefined {
    return this.servers.list().find((one) => one.name === name && one.installed);
  }

  /** Reconnects the server as it is installed now, or ends it if it is no longer installed. Never rejects. */
  async refresh(name: string): Promise<McpServer | undefined> {
    const record = this.store.all.find((one) => one.name === name);
    const config = record?.kind === 'mcp' ? this.#configOf(record) : null;
    if (!config && !this.stateOf(name)) return undefined;
    await this.servers.install(name, config);
    return this.stateOf(name);
  }

  #configOf(record: ActionRecord): McpConfig {
    const { name, enabled, current } = record;
    const { image, manifest } = current;
    const { permissions, environment = {}, command = ['/action/run'] } = manifest;
    const [program = '/action/run', ...args] = command;
    return {
      name,
      enabled,
      tools: null,
      transport: {
        type: 'stdio',
        command: program,
        args,
        env: { ...environment, ...this.store.declaredSecretsOf(name) },
        host: false,
        image,
        folder: null,
        hosts: permissions.network,
        installed: {
          memoryMb: permissions.memory_mb,
          fault: this.store.secretsFault(name, permissions),
        },
      },
    };
  }
}
