import { newEvent } from '@belay/protocol';
import type { Conversation } from './conversation.js';
import type { LoopOptions } from './loop-options.js';

/** Reads the workspace’s guidance for these paths, if a user trusts it. */
export async function guide(
  { writer, workspace }: Pick<LoopOptions, 'writer' | 'workspace'>,
  { trusted, trustedTexts, guidance }: Conversation,
  paths: readonly string[],
): Promise<void> {
  if (!trusted) return;
  const files = await workspace.guidance(paths, guidance, trustedTexts);
  if (files.length === 0) return;
  const names = files.map((file) => file.path).join(', ');
  writer.append(newEvent('agent', 'guidance', { args: { files }, message: `Follows ${names}` }));
}
