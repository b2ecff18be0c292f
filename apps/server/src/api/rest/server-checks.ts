import { Injectable } from '@nestjs/common';
import type { Check } from '@belay/protocol';
import { Config } from '../../config.js';
import { McpServers } from '../../mcp/mcp-servers.js';
import { SandboxChecks } from '../../sandboxes/engine/sandbox-checks.js';
import { diskCheck } from '../../storage/disk-check.js';

/** Checks the server’s prerequisites. */
@Injectable()
export class ServerChecks {
  constructor(
    private readonly config: Config,
    private readonly sandboxes: SandboxChecks,
    private readonly mcp: McpServers,
  ) {}

  async all(): Promise<Check[]> {
    const sandboxes = await this.sandboxes.checks();
    return [...sandboxes, await diskCheck(this.config), ...this.mcp.checks()];
  }
}
