import { z } from 'zod';
import { mcpOutput, type McpTool } from './mcp.js';
import type { Operation } from './operation.js';
import { operationNamed } from './operations/index.js';

export const mcpOperationName = ({ server, name }: Pick<McpTool, 'server' | 'name'>): string =>
  `mcp.${server}.${name}`;

/** The server and the tool that a call's action names; undefined for any other action. */
export function mcpToolNamed(action: string): Pick<McpTool, 'server' | 'name'> | undefined {
  const [, server, name] = /^mcp\.([a-z0-9-]+)\.(.+)$/s.exec(action) ?? [];
  return server !== undefined && name !== undefined ? { server, name } : undefined;
}

/** Whether an action is a call: of an operation, or of a tool of an MCP server. */
export const isCall = (action: string): boolean =>
  operationNamed(action) !== undefined || mcpToolNamed(action) !== undefined;

/** A tool in the form of an operation. Its input is checked by its server; whatever it does, it reaches out. */
export function mcpOperation(tool: McpTool): Operation {
  return {
    name: mcpOperationName(tool),
    title: tool.title ?? tool.name,
    description: tool.description,
    risk: 'network',
    audience: ['model'],
    input: z.record(z.string(), z.unknown()),
    output: mcpOutput,
  };
}

/** What rules match against and people read: the whole input, for any part of it may be what matters. */
export const mcpSubject = (input: unknown): string => JSON.stringify(input ?? {});
