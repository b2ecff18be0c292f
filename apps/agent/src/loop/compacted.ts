import type { EventArgs } from '@belay/protocol';
import type { Conversation, Item } from './conversation.js';
import type { Progress, State } from './fold-state.js';
import { keptWords } from './kept-words.js';
import { KnownFiles } from './known-files.js';
import { shownOutput } from './shortened-output.js';
import { workOverview } from './work-overview.js';

/** Applies a `compact` event. */
export function compactState(
  state: State,
  progress: Progress,
  compact: EventArgs<'compact'>,
): void {
  const { work, turn } = progress;
  const { running } = progress.shells;
  state.items = compacted(state, compact, workOverview({ ...state, work, running }));
  state.files = stillShown(state.items);
  for (const item of state.items)
    if (item.kind === 'turn' && item.turn.seq === turn?.seq) progress.turn = item.turn;
}

/** The items after a `compact` event. `overview` is what the log knows about the work so far. */
export function compacted(
  { items, plan }: Pick<Conversation, 'items' | 'plan'>,
  { through, summary, dropped, longest }: EventArgs<'compact'>,
  overview: string,
): Item[] {
  const last = items.findLastIndex((item) => item.kind === 'turn' && item.turn.seq <= through);
  const old = items.slice(0, last + 1);
  const rest = items.slice(last + 1);
  if (summary === '') return [...old.map((item) => shortenedItem(item, longest)), ...rest];
  const { messages } = dropped;
  return [
    ...keptWords(old),
    { kind: 'summary', summary, plan, overview, dropped: messages },
    ...rest,
  ];
}

/** An item whose long results are shown shortened. */
export const shortenedItem = (item: Item, longest: number): Item =>
  item.kind === 'turn' ? { ...item, turn: { ...item.turn, shortened: longest } } : item;

/**
 * What the model can still read of files in its prompt: what it has seen only in results that were dropped or cut no
 * longer counts as read.
 */
function stillShown(items: readonly Item[]): KnownFiles {
  const known = new KnownFiles();
  for (const item of items) {
    if (item.kind === 'text') known.addChanges(item.changes ?? []);
    if (item.kind !== 'turn') continue;
    known.show();
    const { results, shortened } = item.turn;
    for (const result of results.values())
      known.addResult(result, { isCut: shownOutput(result, shortened) !== result.output });
  }
  return known;
}
