import { randomUUID } from 'node:crypto';
import type { Event, TranscriptFile } from '@belay/protocol';
import { newestItems, pairedItems } from '../transcripts/paired-items.js';
import type { AgentEntry } from './agent-entry.js';
import { conversationItems } from './conversation-items.js';

/** What a program is given of a long conversation, in characters: about half of a usual context window. */
const mostCharacters = 400_000;

/**
 * The conversation in a log as a new file of this agent’s program, to continue in a folder; null if the program has no
 * such files, or no agent has said anything yet. It ends with what an agent said or did: messages after that are for
 * the next prompt.
 */
export function conversationFile(
  log: readonly Event[],
  { name, transcripts }: Pick<AgentEntry, 'name' | 'transcripts'>,
  cwd: string,
): TranscriptFile | null {
  if (!transcripts) return null;
  const items = pairedItems(conversationItems(log, { name, transcripts }));
  const last = items.findLastIndex(({ kind }) => kind !== 'user');
  if (last < 0) return null;
  const kept = newestItems(items.slice(0, last + 1), mostCharacters);
  return transcripts.format.write(kept, { id: randomUUID(), cwd, now: new Date() });
}
