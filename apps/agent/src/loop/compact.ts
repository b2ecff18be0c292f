import { errorFrom, newEvent, type Message } from '@belay/protocol';
import type { Conversation, ModelTurn } from './conversation.js';
import { listedOperations } from './listed-operations.js';
import type { LoopOptions } from './loop-options.js';
import { prompt } from './prompt.js';

/** The number of newest turns that stay unchanged. */
const untouchedTurns = 3;
/** Shortening results is enough if it saves this share of the conversation. */
const minSavedShare = 0.25;
/** A rough estimate for all models, used only to report the savings. */
const charactersPerToken = 4;

const instruction = `The conversation is too long for your window. Write a summary of everything above that lets you go on without it. Keep: what the user wants and decided, what was done and found out (files with paths, commands, exact errors and figures that matter), what was tried and did not work, the state of the work now and the next steps. Leave out what is no longer needed. The task, the plan, the workspace's guidance and pinned messages are kept word for word beside your summary. Answer with the summary only.`;

/**
 * Makes the conversation shorter, by an event that the user can undo: first, long results of old turns are shortened;
 * if that is not enough, old turns are replaced by a summary. Returns false when nothing is left to shorten.
 */
export async function compact(
  options: LoopOptions,
  conversation: Conversation,
  { signal, overflow }: { signal: AbortSignal; overflow: boolean },
): Promise<boolean> {
  const turns = turnsOf(conversation);
  const through = turns.at(-1 - untouchedTurns) ?? (overflow ? turns.at(-2) : undefined);
  if (!through) return overflow && turns.length === 1 && shorten(options, conversation, turns[0]);
  const shorter = sizeOf(conversation) - sizeOf(cut(conversation, through));
  if (shorter > minSavedShare * sizeOf(conversation))
    return shorten(options, conversation, through);
  const summary = await summarize(options, conversation, { through, signal });
  const old = before(conversation, through);
  const messages = old.items.filter((item) => item.kind !== 'text' || !item.pinned).length;
  const results = turnsOf(old).reduce((sum, turn) => sum + turn.results.size, 0);
  append(options, {
    through: through.seq,
    summary,
    dropped: { messages, results, tokens: tokensOf(old) },
  });
  return true;
}

/** Shortens long results up to a turn; false if that saves nothing. */
function shorten(
  options: LoopOptions,
  conversation: Conversation,
  through: ModelTurn | undefined,
): boolean {
  if (!through) return false;
  const saved = sizeOf(conversation) - sizeOf(cut(conversation, through));
  if (saved <= 0) return false;
  const old = turnsOf(conversation).filter((turn) => turn.seq <= through.seq && !turn.shortened);
  const results = old.reduce((sum, turn) => sum + turn.results.size, 0);
  append(options, {
    through: through.seq,
    summary: '',
    dropped: { messages: 0, results, tokens: Math.ceil(saved / charactersPerToken) },
  });
  return true;
}

async function summarize(
  options: LoopOptions,
  conversation: Conversation,
  { through, signal }: { through: ModelTurn; signal: AbortSignal },
): Promise<string> {
  const old = cut(before(conversation, through), through);
  const ask: Message = { role: 'user', text: instruction, images: [] };
  const messages = [...prompt(old), ask];
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

function append(
  options: LoopOptions,
  args: {
    through: number;
    summary: string;
    dropped: { messages: number; results: number; tokens: number };
  },
): void {
  const { messages, results, tokens } = args.dropped;
  const what =
    args.summary === ''
      ? `Shortened ${results} results of operations`
      : `Replaced ${messages} messages with ${results} results by a summary`;
  options.writer.append(
    newEvent('agent', 'compact', { args, message: `${what}, about ${tokens} tokens less` }),
  );
}

const turnsOf = ({ items }: Conversation): ModelTurn[] =>
  items.flatMap((item) => (item.kind === 'turn' ? [item.turn] : []));

function before(conversation: Conversation, through: ModelTurn): Conversation {
  const end = conversation.items.findIndex((item) => item.kind === 'turn' && item.turn === through);
  return { ...conversation, items: conversation.items.slice(0, end + 1) };
}

/** The conversation with long results shortened up to a turn. */
function cut(conversation: Conversation, through: ModelTurn): Conversation {
  const items = conversation.items.map((item) =>
    item.kind === 'turn' && item.turn.seq <= through.seq
      ? { ...item, turn: { ...item.turn, shortened: true } }
      : item,
  );
  return { ...conversation, items };
}

const sizeOf = (conversation: Conversation): number => JSON.stringify(prompt(conversation)).length;
const tokensOf = (conversation: Conversation): number =>
  Math.ceil(sizeOf(conversation) / charactersPerToken);
