import { AppError, mcpPath } from '@belay/protocol';
import { findServer, type Where } from '../connection.js';

/**
 * `belay mcp`: forwards messages between an MCP client on standard input and output and the server’s own `/mcp`.
 * Resolves when the client closes its side.
 */
export async function serveMcp(where: Where): Promise<void> {
  const { url, token } = findServer(where);
  const { bridgeMcp } = await import('../mcp-bridge.js');
  const response = await fetch(`${url}/health`).catch(() => undefined);
  if (!response) {
    throw new AppError(
      'unavailable',
      `No Belay server answers at ${url}. Start one with: belay up`,
    );
  }
  await bridgeMcp(new URL(mcpPath, url), token);
}
