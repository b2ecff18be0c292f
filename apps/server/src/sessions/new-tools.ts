import { Injectable } from '@nestjs/common';
import type { newSession } from '@belay/protocol';
import type { z } from 'zod';
import { InstalledActions } from '../actions/installed-actions.js';
import { McpServers } from '../mcp/mcp-servers.js';

/** The tools of a new session besides the operations. */
@Injectable()
export class NewTools {
  constructor(
    private readonly mcp: McpServers,
    private readonly actions: InstalledActions,
  ) {}

  /** Throws for names that do not exist; `missing` lists MCP servers that cannot be reached. */
  async of(wanted: Pick<z.output<typeof newSession>, 'mcp' | 'actions'>) {
    const { tools, missing } = await this.mcp.toolsFor(wanted.mcp);
    return { mcp: tools, actions: this.actions.forSession(wanted.actions), missing };
  }
}
