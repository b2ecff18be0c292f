import { join } from 'node:path';
import type { NewMcpServer } from '@belay/protocol';
import { repositoryRoot } from './environment.js';

export const mcpServerFile = join(repositoryRoot, 'libs/testkit/mcp-server.mjs');

/** The MCP server for tests, as a program that the server starts on its own machine. */
export const toolsServer: NewMcpServer = {
  name: 'tools',
  transport: {
    type: 'stdio',
    command: process.execPath,
    args: [mcpServerFile],
    env: { MCP_SECRET: 'stays-on-the-host' },
    host: true,
  },
};

/**
 * The same server in a container, which has the repository mounted because the program is in it.
 */
export const containedServer: NewMcpServer = {
  name: 'contained',
  transport: {
    type: 'stdio',
    command: 'node',
    args: [mcpServerFile],
    env: { MCP_SECRET: 'declared' },
    folder: repositoryRoot,
  },
};
