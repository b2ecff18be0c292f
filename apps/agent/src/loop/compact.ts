import { errorFrom, newEvent, type EventArgs, type Message } from '@belay/protocol';
import { compacted, shortenedItem } from './compacted.js';
import type { Conversation, ModelTurn } from './conversation.js';
import { listedOperations } from './listed-operations.js';
import type { LoopOptions } from './loop-options.js';
import { prompt } from './prompt.js';
import { sentSize } from './sent-size.js';
import { usualLongText } from './shortened-output.js';

/** The newest turns stay unchanged up to this many tokens, or this share of the window if that is less. */
const keptTokens = 40_000;
const keptShare = 0.25;
/** Shortening results is enough if it saves this share of the prompt; after an overflow, less is worth a try. */
const enoughSaved = { usual: 0.5, overflow: 0.25 } as const;
/** After an overflow, only results above these sizes are shortened, if that saves enough: the largest first. */
const longResults = [40_000, 10_000, 4_000, usualLongText] as const;

const instruction = `The conversation is too long for your window. Write a summary of everything above that lets you go on without it. Keep: what was done and found out (files with paths, commands, exact errors and figures that matter), what was tried and did not work, the state of the work now and the next steps. Leave out what is no longer needed. The task, all messages and answers of the user, the plan, the workspace's guidance, and the lists of files and running commands are kept beside your summary. Answer with the summary only.`;

interface Space {
  signal: AbortSignal;
  /** Whether the provider has refused the prompt as too long. */
  overflow: boolean;
  /** The model’s window in tokens; null if it is unknown. */
  window: number | null;
  charactersPerToken: number;
}

/**
 * Makes the conversation shorter, once, by an event that the user can undo: long results of old turns are shortened if
 * that frees half of the prompt; otherwise old turns are replaced by a summary. Returns false when nothing is left to
 * shorten.
 */
export async function compact(
  options: LoopOptions,
  conversation: Conversation,
  space: Space,
): Promise<boolean> {
  const { overflow } = space;
  const turns = turnsOf(conversation);
  const through = lastOld(conversation, turns, space);
  const shortened = shortening(conversation, overflow ? turns.at(-1) : through, overflow);
  if (shortened) return append(options, { conversation, space, event: shortened });
  if (!through) return false;
  const summary = await summarize(options, conversation, { ...space, through });
  const old = before(conversation, through);
  const kept = compacted(old, { ...nothing, through: through.seq, summary }, '').length - 1;
  const results = turnsOf(old).reduce((sum, turn) => sum + turn.results.size, 0);
  const dropped = { messages: old.items.length - kept, results, tokens: 0 };
  const event = { ...nothing, through: through.seq, summary, dropped };
  return append(options, { conversation, space, event });
}

type Compaction = EventArgs<'compact'>;
const nothing: Compaction = {
  through: 0,
  summary: '',
  longest: usualLongText,
  dropped: { messages: 0, results: 0, tokens: 0 },
};

/** The last turn before those that stay unchanged; the newest turn always stays. */
function lastOld(
  conversation: Conversation,
  turns: readonly ModelTurn[],
  { overflow, window, charactersPerToken }: Space,
): ModelTurn | undefined {
  const size = sentSize(prompt(conversation));
  // A prompt that overflowed is an upper bound of an unknown window.
  const known = window ?? (overflow ? size / charactersPerToken : Number.POSITIVE_INFINITY);
  let left = Math.min(keptTokens, keptShare * known) * charactersPerToken;
  const kept = turns.findLastIndex((turn, index) => {
    left -= sentSize(prompt({ ...conversation, items: [{ kind: 'turn', turn }] }).slice(1));
    return left < 0 && index < turns.length - 1;
  });
  // The provider counts more than is measured here: only its refusal is worth a summary of little.
  return turns[kept] ?? (overflow ? turns.at(-2) : undefined);
}

/** The event that shortens long results up to a turn, if that saves enough. */
function shortening(
  conversation: Conversation,
  through: ModelTurn | undefined,
  overflow: boolean,
): Compaction | undefined {
  if (!through) return undefined;
  const size = sentSize(prompt(conversation));
  for (const longest of overflow ? longResults : [usualLongText]) {
    const saved = size - sentSize(prompt(shortenedThrough(conversation, through, longest)));
    if (saved < size * enoughSaved[overflow ? 'overflow' : 'usual']) continue;
    const old = turnsOf(conversation).filter(({ seq }) => seq <= through.seq);
    const results = old.reduce((sum, turn) => sum + turn.results.size, 0);
    const dropped = { messages: 0, results, tokens: 0 };
    return { through: through.seq, summary: '', longest, dropped };
  }
  return undefined;
}

async function summarize(
  options: LoopOptions,
  conversation: Conversation,
  { through, signal, overflow }: Space & { through: ModelTurn },
): Promise<string> {
  const old = before(conversation, through);
  // Unchanged, the conversation is in the provider’s cache; after an overflow, it does not fit.
  const told = overflow ? shortenedThrough(old, through, usualLongText) : old;
  const ask: Message = { role: 'user', text: instruction, images: [] };
  const messages = [...prompt(told), ask];
  try {
    // Offered but not to be called: Anthropic refuses conversations with calls whose tools are missing.
    const operations = listedOperations(conversation, options.offered).map(({ name }) => name);
    const reply = await options.queryModel({ purpose: 'compact', messages, operations }, signal);
    if (reply.text.trim() !== '') return reply.text;
  } catch (thrown) {
    if (errorFrom(thrown).code !== 'context_overflow') throw thrown;
  }
  return chronicle(old);
}

/** A replacement for the summary, if the model cannot write one: the model’s texts and calls, shortened. */
function chronicle(old: Conversation): string {
  const lines = turnsOf(old).map(({ say }) => {
    const calls = say.calls.map(
      (call) => `${call.operation} ${JSON.stringify(call.input).slice(0, 120)}`,
    );
    return `- ${[say.text.slice(0, 200), ...calls].filter(Boolean).join('; ')}`;
  });
  return `What was done, in order:\n${lines.slice(-100).join('\n')}`;
}

/** The savings are measured on what is sent before and after. */
function append(
  { writer, log }: LoopOptions,
  { conversation, space, event }: { conversation: Conversation; space: Space; event: Compaction },
): boolean {
  const { messages, results } = event.dropped;
  const what =
    event.summary === ''
      ? `Shortened ${results} results of operations`
      : `Replaced ${messages} messages with ${results} results by a summary`;
  const written = newEvent('agent', 'compact', { args: event, message: what });
  const after = { ...log.conversationWith(written), sandbox: conversation.sandbox };
  const saved = sentSize(prompt(conversation)) - sentSize(prompt(after));
  const tokens = Math.max(0, Math.round(saved / space.charactersPerToken));
  const args = { ...event, dropped: { ...event.dropped, tokens } };
  writer.append(
    newEvent('agent', 'compact', { args, message: `${what}, about ${tokens} tokens less` }),
  );
  return true;
}

const turnsOf = ({ items }: Conversation): ModelTurn[] =>
  items.flatMap((item) => (item.kind === 'turn' ? [item.turn] : []));

function before(conversation: Conversation, through: ModelTurn): Conversation {
  const end = conversation.items.findIndex((item) => item.kind === 'turn' && item.turn === through);
  return { ...conversation, items: conversation.items.slice(0, end + 1) };
}

/** The conversation with results above a size shortened up to a turn. */
function shortenedThrough(
  conversation: Conversation,
  through: ModelTurn,
  longest: number,
): Conversation {
  const items = conversation.items.map((item) =>
    item.kind === 'turn' && item.turn.seq <= through.seq ? shortenedItem(item, longest) : item,
  );
  return { ...conversation, items };
}
