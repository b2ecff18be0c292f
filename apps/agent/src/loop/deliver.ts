import type { UserMessage } from './conversation.js';
import type { LoopOptions } from './loop-options.js';

/**
 * Called before messages become part of a prompt, or answer a question; the user cannot change them afterwards. False
 * if a queued message was changed after `through`, which the log then contains.
 */
export async function deliver(
  { log, deliverMessages }: Pick<LoopOptions, 'log' | 'deliverMessages'>,
  messages: readonly UserMessage[],
  { through, signal }: { through: number; signal: AbortSignal },
): Promise<boolean> {
  const queued = messages.filter(({ delivery }) => delivery === 'queue').map(({ seq }) => seq);
  if (queued.length === 0 || (await deliverMessages(queued, through))) return true;
  if (log.seen.others === through) await log.changed(signal);
  return false;
}
