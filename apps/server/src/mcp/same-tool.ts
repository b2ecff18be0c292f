import { isDeepStrictEqual } from 'node:util';
import type { McpTool } from '@belay/protocol';
import type { Tool } from './mcp.client.js';

/** Whether a server still offers a tool with the name, description and input that the session got. */
export const isSameTool = (given: McpTool, offered: readonly Tool[]): boolean =>
  offered.some(
    ({ name, description = '', inputSchema }) =>
      name === given.name &&
      description === given.description &&
      isDeepStrictEqual(JSON.parse(JSON.stringify(inputSchema)), given.inputSchema),
  );
