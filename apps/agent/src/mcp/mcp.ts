import { mcpOutput, mcpToolNamed, type McpOutput } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';
import type { CheckedCall } from '../check-call.js';
import { putWhole } from './whole-result.js';

export const isMcp = ({ operation }: CheckedCall): boolean =>
  mcpToolNamed(operation.name) !== undefined;

/**
 * Calls an MCP tool; the server runs the call as it is in the log. The full text of a shortened result is stored in a
 * file, because the model has no other access to it. Throws the server’s errors.
 */
export async function callMcp(
  connection: Pick<ServerConnection, 'call'>,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<McpOutput & { file?: string }> {
  const output = mcpOutput.parse(await connection.call('mcp.call', { id }, { signal }));
  const file = await putWhole(connection, output.full, { name: `mcp-${id}`, signal });
  return file === undefined ? output : { ...output, file };
}
