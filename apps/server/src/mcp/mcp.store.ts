import { Injectable } from '@nestjs/common';
import { AppError, type mcpServerChange } from '@belay/protocol';
import { z } from 'zod';
import type { Document } from '../storage/document.js';
import { Documents } from '../storage/documents.js';
import { changedConfig, mcpConfig, type McpConfig } from './mcp-config.js';

/** The MCP servers that the user has configured, with their secrets. */
@Injectable()
export class McpStore {
  readonly #document: Document<z.ZodArray<typeof mcpConfig>>;

  constructor(documents: Documents) {
    this.#document = documents.open('mcp', z.array(mcpConfig), []);
  }

  /** Calls the listener with the former servers whenever another server of the database has changed them. */
  onRead(listener: (before: readonly McpConfig[]) => void): void {
    this.#document.onRead(listener);
  }

  get all(): readonly McpConfig[] {
    return this.#document.value;
  }

  /** Throws `not_found`. */
  known(name: string): McpConfig {
    const config = this.all.find((one) => one.name === name);
    if (config) return config;
    throw new AppError('not_found', `There is no MCP server ${name} in the settings.`);
  }

  /** Throws `conflict` when the name is taken. */
  add(config: McpConfig): Promise<void> {
    const { name } = config;
    return this.#document.change((configs) => {
      if (!configs.some((one) => one.name === name)) return [...configs, config];
      throw new AppError('conflict', `An MCP server named ${name} already exists.`);
    });
  }

  async change(name: string, change: z.output<typeof mcpServerChange>): Promise<McpConfig> {
    await this.#document.change((configs) => {
      const before = this.known(name);
      return configs.map((one) => (one === before ? changedConfig(before, change) : one));
    });
    return this.known(name);
  }

  remove(name: string): Promise<void> {
    return this.#document.change((configs) => {
      const config = this.known(name);
      return configs.filter((one) => one !== config);
    });
  }
}
