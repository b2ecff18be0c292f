import { Injectable } from '@nestjs/common';
import type { Check } from '@belay/protocol';
import { Config } from '../../config.js';
import { McpServers } from '../../mcp/mcp-servers.js';
import { ContainerHost } from '@belay/containers';
import { Places } from '../../sandboxes/places/places.js';
import { diskCheck } from '../../storage/disk-check.js';

/** Checks the server’s prerequisites. */
@Injectable()
export class ServerChecks {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly mcp: McpServers,
    private readonly places: Places,
  ) {}

  async all(): Promise<Check[]> {
    const host = await this.host.checks();
    const responds = host[0]?.ok ?? false;
    return [
      ...host,
      ...(responds ? await this.host.confinement() : []),
      ...this.places.checks(),
      await diskCheck(this.config),
      ...this.mcp.checks(),
    ];
  }
}
