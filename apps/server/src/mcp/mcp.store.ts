import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { AppError, type mcpServerChange } from '@belay/protocol';
import { z } from 'zod';
import { Config } from '../config.js';
import { PrivateFile } from '../storage/private-file.js';
import { changedConfig, mcpConfig, type McpConfig } from './mcp-config.js';

/** The MCP servers that a person has connected, with their secrets in a file of the server's user alone. */
@Injectable()
export class McpStore {
  private readonly file: PrivateFile<z.ZodArray<typeof mcpConfig>>;
  private configs: readonly McpConfig[];
  /** Changes follow one another; each counts once it is written. */
  private last: Promise<void> = Promise.resolve();

  constructor(config: Config) {
    this.file = new PrivateFile(join(config.data, 'mcp.json'), z.array(mcpConfig));
    this.configs = this.file.read() ?? [];
  }

  get all(): readonly McpConfig[] {
    return this.configs;
  }

  /** Throws `not_found`. */
  known(name: string): McpConfig {
    const config = this.configs.find((one) => one.name === name);
    if (config) return config;
    throw new AppError('not_found', `There is no MCP server ${name} in the settings.`);
  }

  /** Throws `conflict` when there is one of this name. */
  add(config: McpConfig): Promise<void> {
    const { name } = config;
    return this.update((configs) => {
      if (!configs.some((one) => one.name === name)) return [...configs, config];
      throw new AppError('conflict', `There is an MCP server ${name} already.`);
    });
  }

  async change(name: string, change: z.output<typeof mcpServerChange>): Promise<McpConfig> {
    await this.update((configs) => {
      const before = this.known(name);
      return configs.map((one) => (one === before ? changedConfig(before, change) : one));
    });
    return this.known(name);
  }

  remove(name: string): Promise<void> {
    return this.update((configs) => {
      const config = this.known(name);
      return configs.filter((one) => one !== config);
    });
  }

  private update(change: (configs: readonly McpConfig[]) => McpConfig[]): Promise<void> {
    const updated = this.last.then(async () => {
      const configs = change(this.configs);
      await this.file.write(configs);
      this.configs = configs;
    });
    this.last = updated.catch(() => undefined);
    return updated;
  }
}
