import { isSearched, toolName, type Operation } from '@belay/protocol';
import type { Conversation } from './conversation.js';

/**
 * The operations that the next prompt lists. With many installed actions, only those that the conversation has found
 * or called are listed, because providers refuse calls whose tools are missing; so are operations on a page, once one
 * was opened. The list only grows, so that the start of the prompt stays the same in between.
 */
export function listedOperations(
  { known }: Pick<Conversation, 'known'>,
  offered: readonly Operation[],
): readonly Operation[] {
  const hidden = new Set<Operation['search']>([
    'opened',
    ...(isSearched(offered) ? ['found' as const] : []),
  ]);
  return offered.filter(
    ({ name, search }) => !hidden.has(search) || known.has(name) || known.has(toolName(name)),
  );
}
