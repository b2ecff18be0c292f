import { z } from 'zod';
import { mcpOutput, type McpTool } from './mcp.js';
import { defineOperation, type Operation } from './operation.js';

export const mcpOperationName = ({ server, name }: Pick<McpTool, 'server' | 'name'>): string =>
  `mcp.${server}.${name}`;

/** The server and tool in the name of a call’s action; undefined for any other action. */
export function mcpToolNamed(action: string): Pick<McpTool, 'server' | 'name'> | undefined {
  const [, server, name] = /^mcp\.([a-z0-9-]+)\.(.+)$/s.exec(action) ?? [];
  return server !== undefined && name !== undefined ? { server, name } : undefined;
}

/** A tool as an operation. Its server checks the input; its risk is always `network`. */
export function mcpOperation(tool: Omit<McpTool, 'inputSchema'>): Operation {
  const { title, name, description, installed } = tool;
  const search = installed ? 'found' : null;
  return { ...anyTool, search, title: title ?? name, description, name: mcpOperationName(tool) };
}

const anyTool = defineOperation({
  title: '',
  description: '',
  risk: 'network',
  input: z.record(z.string(), z.unknown()),
  output: mcpOutput,
  // The whole input, because any part of it may matter.
  subject: (input) => JSON.stringify(input),
  subjectKind: 'json',
  changesFiles: false, // An MCP server works outside the workspace.
  images: (output) => output.images ?? [],
});
