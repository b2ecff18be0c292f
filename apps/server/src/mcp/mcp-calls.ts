import { Injectable } from '@nestjs/common';
import { AppError, type McpOutput, type McpTool } from '@belay/protocol';
import { ApprovedCalls, type ApprovedCall } from '../approvals/approved-calls.js';
import { BlobStore } from '../logs/blob-store.js';
import { toMcpOutput } from './mcp-output.js';
import { McpServers } from './mcp-servers.js';

/**
 * Agents’ calls of MCP tools. The sandbox is not trusted: the call is read from the log, where the user approved it,
 * and runs once.
 */
@Injectable()
export class McpCalls {
  constructor(
    private readonly blobs: BlobStore,
    private readonly calls: ApprovedCalls,
    private readonly servers: McpServers,
  ) {}

  /** Runs a logged call once it is approved. Throws what `ApprovedCalls.runOnce` and `McpServers.call` throw. */
  async run(session: string, id: string, signal: AbortSignal): Promise<McpOutput> {
    return this.calls.runOnce(session, id, {
      signal,
      work: async (call, ending) => {
        const result = await this.servers.call(toolOf(call), call.input, ending);
        return toMcpOutput(result, (bytes, type) => this.blobs.putFor(session, bytes, type));
      },
    });
  }
}

function toolOf({ operation, tool }: ApprovedCall): McpTool {
  if (tool) return tool;
  throw new AppError('forbidden', `${operation.name} is not a tool of an MCP server.`);
}
