import { fact } from '@belay/protocol';
import type { Conversation } from './conversation.js';
import type { LoopOptions } from './loop-options.js';

/** Reads guidance that the workspace has for these paths, when a person trusts it. */
export async function guide(
  options: LoopOptions,
  { trusted, guidance }: Conversation,
  paths: readonly string[],
): Promise<void> {
  if (!trusted) return;
  const files = await options.guidance(paths, guidance);
  if (files.length === 0) return;
  const names = files.map((file) => file.path).join(', ');
  options.journal.append(
    fact('agent', 'guidance', { args: { files }, message: `Follows ${names}` }),
  );
}
