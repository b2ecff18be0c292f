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
  const fresh = withTask(textsIn(items.slice(from)));
  if (!isNew) return fresh;
  const known = transcript(items.slice(0, from));
  if (!known) return textsIn(items);
  return [{ text: known, images: [] }, ...fresh];
}

/** Whether an item is something that an agent said or was told by its tools. */
export const isReply = (item: Item): boolean => item.kind !== 'text' || item.told === true;

const textsIn = (items: readonly Item[]): TextItem[] =>
  items.filter((item) => item.kind === 'text');

/** What only informs, such as what the user did by hand, is not a task. */
const withTask = (texts: readonly TextItem[]): readonly PromptText[] =>
  texts.some(({ byUser }) => byUser) ? texts : [...texts, interrupted];

const interrupted: PromptText = { text: 'You were interrupted; go on.', images: [] };
