import type { Message } from '@belay/protocol';
import {
  silentReply,
  type CallResult,
  type Conversation,
  type Item,
  type ModelTurn,
} from './conversation.js';
import { reminder } from './silent-replies.js';
import { withoutOldPictures } from './without-old-pictures.js';
import { shortenedValue, shownOutput } from './shortened-output.js';
import { systemPrompt } from './system-prompt.js';
import { withNote } from './with-note.js';

/** The messages of the next request, with a notice about budgets at the end. Pure, like the conversation. */
export function prompt(conversation: Conversation, notice?: string): Message[] {
  const messages: Message[] = [
    { role: 'system', text: systemPrompt(conversation) },
    ...conversation.items.flatMap(messagesOf),
  ];
  const silent = silentReply(conversation);
  if (silent) messages.push(asUser(reminder(silent)));
  if (notice !== undefined) messages.push(asUser(notice));
  return withoutOldPictures(messages);
}

/** Items never change, so each is converted to messages once: a prompt costs little more than its newest turn. */
const known = new WeakMap<Item, readonly Message[]>();

function messagesOf(item: Item): readonly Message[] {
  const before = known.get(item);
  if (before) return before;
  const messages = newMessagesOf(item);
  known.set(item, messages);
  return messages;
}

function newMessagesOf(item: Item): Message[] {
  if (item.kind === 'turn') return messagesOfTurn(item.turn);
  if (item.kind === 'text') return [asUser(item.text, item.images)];
  if (item.kind === 'notice') return [asUser(item.text)];
  if (item.kind === 'nudge') return [asUser(reminder(item.say))];
  const plan = item.plan === null ? '' : `\n\nThe plan as it stood:\n\n${item.plan}`;
  const overview = item.overview && `\n\n${item.overview}`;
  return [
    asUser(
      `The conversation up to here was shortened; ${item.dropped} messages were replaced by this summary:\n\n${item.summary}${overview}${plan}`,
    ),
  ];
}

function messagesOfTurn({ say, results, shortened: short }: ModelTurn): Message[] {
  const { text, reasoning, opaque } = say;
  const calls =
    short === null
      ? say.calls
      : say.calls.map((call) => ({ ...call, input: shortenedValue(call.input, short) }));
  // Providers refuse an empty reply in a conversation.
  if (text === '' && calls.length === 0) return [];
  const reply: Message = {
    role: 'assistant',
    text,
    ...(reasoning !== undefined && { reasoning }),
    calls,
    ...(opaque && { opaque }),
  };
  if (calls.length === 0) return [reply];
  return [
    reply,
    {
      role: 'tool',
      results: calls.map((call) => ({
        id: call.id,
        operation: call.operation,
        ...resultOf(results.get(call.id), short),
      })),
    },
  ];
}

function resultOf(result: CallResult | undefined, short: number | null) {
  if (!result) {
    const message = 'This call was not run: the session was stopped or had ended before it.';
    return { output: { code: 'cancelled', message }, failed: true, images: [] };
  }
  return {
    output: withNote(shownOutput(result, short), result.note),
    failed: !result.ok,
    images: short === null ? result.images : [],
  };
}

function asUser(text: string, images: string[] = []): Message {
  return { role: 'user', text, images };
}
