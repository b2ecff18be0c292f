import { foundIn, isSearched, toolName, type Operation } from '@belay/protocol';
import type { Conversation } from './conversation.js';

/**
 * The operations that the next prompt lists. With many installed actions, only those that the conversation has found
 * or called are listed, because providers refuse calls whose tools are missing.
 */
export function listedOperations(
  { items }: Pick<Conversation, 'items'>,
  offered: readonly Operation[],
): readonly Operation[] {
  if (!isSearched(offered)) return offered;
  const known = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'turn') continue;
    for (const { operation } of item.turn.say.calls) known.add(operation);
    for (const result of item.turn.results.values())
      for (const name of foundIn(result)) known.add(name);
  }
  return offered.filter(
    ({ name, search }) => search !== 'found' || known.has(name) || known.has(toolName(name)),
  );
}
