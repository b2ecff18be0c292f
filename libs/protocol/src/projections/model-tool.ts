import { z } from 'zod';
import type { McpTool } from '../mcp.js';
import { mcpOperationName, mcpToolNamed } from '../mcp-operation.js';
import type { Operation } from '../operation.js';

const longest = 64;

/** Providers allow only letters, digits, `_` and `-` in a tool's name. */
export function toolName(operation: string): string {
  const tool = mcpToolNamed(operation);
  if (!tool) return operation.replaceAll('.', '_');
  const name = `mcp_${tool.server}_${tool.name}`;
  if (name.length <= longest && /^[\w-]+$/.test(name)) return name;
  // Two names may become the same by what is cut and replaced: a hash keeps them apart.
  const hash = hashOf(tool.name);
  return `${name.replaceAll(/[^\w-]/g, '_').slice(0, longest - 1 - hash.length)}_${hash}`;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema (draft 7, which all providers read) of the input. */
  parameters: Record<string, unknown>;
}

/** The form in which a model is offered an operation. */
export function modelTool(operation: Operation): ModelTool {
  const { $schema: _, ...parameters } = z.toJSONSchema(operation.input, {
    target: 'draft-7',
    io: 'input',
  });
  return { name: toolName(operation.name), description: operation.description, parameters };
}

/** The form in which a model is offered a tool of an MCP server: as the server describes it. */
export function mcpModelTool(tool: McpTool): ModelTool {
  const name = toolName(mcpOperationName(tool));
  // Servers may leave out what a tool without input has none of; some providers refuse that.
  const parameters = { properties: {}, ...tool.inputSchema };
  return { name, description: tool.description, parameters };
}

/** FNV-1a of 32 bits, in 7 characters at most. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36);
}
