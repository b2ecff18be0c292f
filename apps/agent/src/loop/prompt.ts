import { toolName, type EventArgs, type Message } from '@belay/protocol';
import {
  silentReply,
  type Answer,
  type Conversation,
  type Item,
  type Turn,
} from './conversation.js';
import { withoutOldPictures } from './pictures.js';
import { shortened } from './shortened.js';
import { systemPrompt } from './system-prompt.js';
import { withNote } from './with-note.js';

/** The messages of the next request. Pure, like the conversation that they come from. */
export function prompt(conversation: Conversation): Message[] {
  const messages: Message[] = [
    { role: 'system', text: systemPrompt(conversation) },
    ...conversation.items.flatMap(messagesOf),
  ];
  const silent = silentReply(conversation);
  if (silent) messages.push(asUser(nudge(silent)));
  return withoutOldPictures(messages);
}

/** What the model is told when a reply of it called nothing. */
const nudge = ({ cut }: EventArgs<'say'>): string =>
  cut
    ? 'Your reply reached its limit of length and was cut. Go on from there in shorter replies: call the next operation, and write long files in several pieces.'
    : 'You called no operation. Go on with one; call finish when the task is done and checked, or ask when only the person can decide.';

function messagesOf(item: Item): Message[] {
  if (item.kind === 'turn') return messagesOfTurn(item.turn);
  if (item.kind === 'text') return [asUser(item.text, item.images)];
  if (item.kind === 'nudge') return [asUser(nudge(item.say))];
  const plan = item.plan === null ? '' : `\n\nThe plan as it stood:\n\n${item.plan}`;
  return [
    asUser(
      `The conversation up to here was shortened; ${item.dropped} messages were replaced by this summary:\n\n${item.summary}${plan}`,
    ),
  ];
}

function messagesOfTurn({ say, results, shortened: short }: Turn): Message[] {
  const { text, reasoning, opaque } = say;
  const calls = short
    ? say.calls.map((call) => ({ ...call, input: shortened(call.input) }))
    : say.calls;
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

function resultOf(answer: Answer | undefined, short: boolean) {
  if (!answer) {
    const message = 'This call was not run: the session was stopped or had ended before it.';
    return { output: { code: 'cancelled', message }, failed: true, images: [] };
  }
  return {
    output: withNote(short ? shortened(answer.output) : answer.output, answer.note),
    failed: !answer.ok,
    images: short ? [] : answer.images,
  };
}

function asUser(text: string, images: string[] = []): Message {
  return { role: 'user', text, images };
}

/** The name of an operation for one that a model wrote, which may have the form of a tool's name. */
export function operationCalled(
  name: string,
  offered: readonly { name: string }[],
): string | undefined {
  const known = offered.map((operation) => operation.name);
  return known.find((one) => one === name) ?? known.find((one) => toolName(one) === name);
}
