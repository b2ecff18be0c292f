import type { ToolCallUpdate } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { operationsServerName } from '../operations-server.js';

const pattern = new RegExp(`^(?:mcp_+)?${operationsServerName}_+(.+)$`);

const named = z.object({ claudeCode: z.object({ toolName: z.string() }) });
/** How one program reports calls of MCP tools. */
const ofServer = z.object({ server: z.literal(operationsServerName), tool: z.string() });

/**
 * Whether a program reports a call of Belay’s own MCP server, which is logged and approved where it arrives. Only names
 * that programs make from that of the server count, never a title that may be a command.
 */
export function isOwnTool(
  { kind, name, title, rawInput, _meta }: ToolCallUpdate,
  tools: ReadonlySet<string>,
): boolean {
  if (kind && kind !== 'other') return false;
  const { data: meta } = named.safeParse(_meta);
  const called = name ?? meta?.claudeCode.toolName ?? title ?? '';
  const tool = pattern.exec(called)?.[1] ?? ofServer.safeParse(rawInput).data?.tool;
  return tool !== undefined && tools.has(tool);
}
