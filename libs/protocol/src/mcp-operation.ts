import { z } from 'zod';
import { mcpOutput, type McpTool } from './mcp.js';
import { defineOperation, type Operation } from './operation.js';

export const mcpOperationName = ({ server, name }: Pick<McpTool, 'server' | 'name'>): string =>
  `mcp.${server}.${name}`;

/** The server and the tool that a call’s action names; undefined for any other action. */
export function mcpToolNamed(action: string): Pick<McpTool, 'server' | 'name'> | undefined {
  const [, server, name] = /^mcp\.([a-z0-9-]+)\.(.+)$/s.exec(action) ?? [];
  return server !== undefined && name !== undefined ? { server, name } : undefined;
}

/** A tool in the form of an operation. Its input is checked by its server; whatever it does, it reaches out. */
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
  // The whole input, for any part of it may be what matters.
  subject: (input) => JSON.stringify(input),
  subjectKind: 'json',
  changesFiles: false, // What an MCP server does, it does outside.
  images: (output) => output.images ?? [],
});
