import type { Conversation, Item, TextItem } from '../loop/conversation.js';
import { transcript } from './transcript.js';

export type PromptText = Pick<TextItem, 'text' | 'images'>;

/**
 * What a program is told next: what it does not know yet. One that begins a new conversation is told the earlier one,
 * too.
 */
export function promptTexts(
  { items, program }: Pick<Conversation, 'items' | 'program'>,
  isNew: boolean,
): readonly PromptText[] {
  const from = program?.included ?? items.findLastIndex(isReply) + 1;
  const fresh = textsIn(items.slice(from));
  if (!isNew) return fresh.length > 0 ? fresh : interrupted;
  const known = transcript(items.slice(0, from));
  if (!known) return textsIn(items);
  return [{ text: known, images: [] }, ...(fresh.length > 0 ? fresh : interrupted)];
}

/** Whether an item is something that an agent said or was told by its tools. */
export const isReply = (item: Item): boolean => item.kind !== 'text' || item.told === true;

const textsIn = (items: readonly Item[]): PromptText[] =>
  items.filter((item) => item.kind === 'text');

const interrupted: readonly PromptText[] = [{ text: 'You were interrupted; go on.', images: [] }];
