import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mcpOutput, mcpToolNamed, type McpOutput } from '@belay/protocol';
import type { AgentRope } from '../agent-rope.js';
import type { Checked } from '../dispatch.js';

export const isMcp = ({ operation }: Checked): boolean =>
  mcpToolNamed(operation.name) !== undefined;

/**
 * A call of an MCP tool, which the server runs as the log has it. Of a result that was shortened the whole text is
 * put into a file, for the model has no other way to the rest. Throws what the server throws.
 */
export async function callMcp(
  rope: Pick<AgentRope, 'call'>,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<McpOutput & { file?: string }> {
  const output = mcpOutput.parse(await rope.call('mcp.call', { id }, { signal }));
  if (output.full === undefined) return output;
  const { bytes } = await rope.call('blobs.get', { blob: output.full }, { signal });
  const file = join(tmpdir(), `mcp-${id.replaceAll(/[^\w-]/g, '_')}.txt`);
  await writeFile(file, bytes);
  return { ...output, file };
}
