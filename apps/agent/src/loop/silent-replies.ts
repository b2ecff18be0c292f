import { operations, comparableName, type EventArgs } from '@belay/protocol';
import type { Conversation, Item } from './conversation.js';

type Say = EventArgs<'say'>;
/** What keeps a reply without calls from being an answer. */
export type ReplyFault =
  'cut' | 'cut-thinking' | 'unreadable' | 'reasoning' | 'empty' | 'call-as-text';

/** A model may give this many useless replies in a row, each of which it is told about; the next one ends the work. */
const chances = 3;
/** After a reminder, the second text in a row is an answer. */
const answers = 2;

/** The fault of a reply without calls; null for a text. */
export function faultOfReply({ text, reasoning, cut, unreadable }: Say): ReplyFault | null {
  const isEmpty = text.trim() === '';
  if (unreadable) return 'unreadable';
  if (cut) return isEmpty ? 'cut-thinking' : 'cut';
  if (isEmpty) return reasoning?.trim() ? 'reasoning' : 'empty';
  return hasCallAsText(text) ? 'call-as-text' : null;
}

/** The message after a reply without calls. */
export const reminder = (say: Say): string => reminders[faultOfReply(say) ?? 'none'];

const reminders: Record<ReplyFault | 'none', string> = {
  none: 'You called no operation. Go on with one; call finish when the task is done and checked, or ask when only the user can decide.',
  cut: 'Your reply reached its length limit and was cut. Continue from there in shorter replies: call the next operation, and write long files in several pieces.',
  'cut-thinking':
    'Your reply reached its length limit before any text or call. Think less at a time, and call the next operation.',
  unreadable: 'Your call could not be read, so nothing was run. Call the operation again.',
  reasoning:
    'Your reply had only reasoning, no text and no call. Call the next operation, or finish when the task is done and checked.',
  empty:
    'Your reply had no text and no call. Call the next operation, or finish when the task is done and checked.',
  'call-as-text':
    'Your reply has a call written as text, which was not run. Call operations only as tools, not in the text of a reply.',
};

/** How the work ends after several replies in a row without calls; null if it goes on. */
export type SilentEnd = { readonly answer: string } | { readonly trouble: string };

export function silentEnd({ items }: Pick<Conversation, 'items'>): SilentEnd | null {
  const replies = latestReplies(items);
  const [last] = replies;
  if (!last) return null;
  const texts = replies.filter((say) => faultOfReply(say) === null);
  const [answer] = texts;
  const fault = faultOfReply(last);
  if (fault === null) return texts.length < answers || !answer ? null : { answer: answer.text };
  if (replies.length - texts.length <= chances) return null;
  if (answer) return { answer: answer.text };
  return {
    trouble: `The model gave ${chances + 1} useless replies in a row: the last one ${troubles[fault]}. Write to the session to try again, or choose another model.`,
  };
}

const troubles: Record<ReplyFault, string> = {
  cut: 'was cut at its length limit',
  'cut-thinking': 'reached its length limit before any text or call',
  unreadable: 'had a call that could not be read',
  reasoning: 'had only reasoning',
  empty: 'was empty',
  'call-as-text': 'had a call written as text',
};

/** The replies without calls at the end of the conversation, newest first. */
function latestReplies(items: readonly Item[]): Say[] {
  const replies: Say[] = [];
  for (const item of items.toReversed()) {
    if (item.kind === 'turn' && item.turn.say.calls.length === 0) replies.push(item.turn.say);
    else if (item.kind !== 'nudge' && item.kind !== 'notice') break;
  }
  return replies;
}

/** The forms in which open-weight models write calls when their server does not parse them. */
const callMarks =
  /<\|?tool_calls?(_begin|_start)?\|?>|<function_calls>|<invoke name=|<function=\w|\[TOOL_CALLS\]|<\|python_tag\|>|<｜tool▁calls?▁begin｜>/;
/** JSON with the fields of a call, alone or in a fence. */
const jsonCall =
  /(?:^|```(?:json|tool_code|tool_call)?\s*)\s*\[?\s*\{\s*"(?:name|tool|function|operation)"\s*:\s*"([\w.-]{1,100})"\s*,\s*"(?:arguments|parameters|input|args)"\s*:/;

function hasCallAsText(text: string): boolean {
  if (callMarks.test(text)) return true;
  const name = jsonCall.exec(text)?.[1];
  return name !== undefined && names.has(comparableName(name));
}

/** The operations’ names and those that other harnesses use: JSON with any other name may be an example. */
const names = new Set(
  Object.values(operations).flatMap(({ name, knownAs }) => [
    comparableName(name),
    ...knownAs.split(' ').filter(Boolean),
  ]),
);
