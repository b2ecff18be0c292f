import { join } from 'node:path';
import type { NewMcpServer } from '@belay/protocol';
import { root } from './environment.js';

export const mcpServerFile = join(root, 'libs/testkit/mcp-server.mjs');

/** The MCP server for tests, as a program that Belay's server starts. */
export const toolsServer: NewMcpServer = {
  name: 'tools',
  transport: {
    type: 'stdio',
    command: process.execPath,
    args: [mcpServerFile],
    env: { MCP_SECRET: 'stays-on-the-host' },
  },
};
