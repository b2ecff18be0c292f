import { mcpOutput, mcpToolNamed, type McpOutput } from '@belay/protocol';
import type { ServerConnection } from '../server-connection.js';
import type { CheckedCall } from '../check-call.js';
import { putWhole } from './whole-result.js';

export const isMcp = ({ operation }: CheckedCall): boolean =>
  mcpToolNamed(operation.name) !== undefined;

/**
 * A call of an MCP tool, which the server runs as the log has it. Of a result that was shortened the whole text is
 * put into a file, for the model has no other way to the rest. Throws what the server throws.
 */
export async function callMcp(
  connection: Pick<ServerConnection, 'call'>,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<McpOutput & { file?: string }> {
  const output = mcpOutput.parse(await connection.call('mcp.call', { id }, { signal }));
  const file = await putWhole(connection, output.full, { name: `mcp-${id}`, signal });
  return file === undefined ? output : { ...output, file };
}
