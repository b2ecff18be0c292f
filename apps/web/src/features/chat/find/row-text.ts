import {
  callOf,
  isEvent,
  labelOfCall,
  outputOf,
  readableOutput,
  visibleText,
  type Event,
} from '@belay/protocol';
import { hasFailed, outcomeOf } from '@/features/session-log/call-result';
import type { LogEntry } from '@/features/session-log/log-entries';
import type { LogView } from '@/features/session-log/log-view';
import type { ChatRow } from '../chat-rows';
import { shownEditLines } from '../cards/edit-lines';
import { tailOf } from '../cards/output-tail';

/** Kept, because a live log asks for the texts of all rows in every frame, and few of them change. */
const known = new WeakMap<Event, { parts: readonly unknown[]; text: string }>();

/** The text that a row of the chat shows while its cards are folded, as `foldedCase` has it. */
export function rowText(row: ChatRow, view: LogView): string {
  if (row.kind !== 'entry') return '';
  const { event } = row.entry;
  const parts = partsOf(row.entry, view);
  const before = known.get(event);
  const isSame = before?.parts.length === parts.length;
  if (isSame && parts.every((part, index) => part === before.parts[index])) return before.text;
  const text = foldedCase(textsOf(row.entry, view).join('\n'));
  known.set(event, { parts, text });
  return text;
}

/** All that the text of an entry is made from, besides its first event. */
const partsOf = ({ event, reads = [event] }: LogEntry, view: LogView): unknown[] =>
  reads.flatMap(({ seq, id = '' }) => [
    view.edited.get(seq),
    view.asked.get(id),
    view.results.get(id),
    view.backgroundResults.get(id),
    view.commits.get(id),
    view.edits.get(id),
  ]);

/** Text for comparison: without differences in case and white space, as it is shown. */
export const foldedCase = (text: string): string =>
  visibleText(text).toLowerCase().replaceAll(/\s+/g, ' ');

function textsOf({ kind, event, reads }: LogEntry, view: LogView): string[] {
  if (isEvent(event, 'start')) return [event.args.task];
  if (isEvent(event, 'message')) return [view.edited.get(event.seq) ?? event.args.text];
  if (isEvent(event, 'say')) return [withoutMarks(event.args.text)];
  if (isEvent(event, 'background-result'))
    return [event.message, event.args.ok ? readableOutput(event.args) : ''];
  if (isEvent(event, 'result')) {
    const asked = view.asked.get(event.id ?? '');
    return asked ? callTexts(calledBy(event, asked.input), view) : [event.message];
  }
  if (reads) return reads.flatMap((read) => callTexts(read, view));
  return kind === 'call' ? callTexts(event, view) : [event.message];
}

/** The call of a refused one’s result. */
function calledBy(event: Event & { args: { operation: string } }, input: unknown): Event {
  const args = typeof input === 'object' && input !== null ? { ...input } : {};
  return { ...event, action: event.args.operation, args };
}

function callTexts(event: Event, view: LogView): string[] {
  const id = event.id ?? '';
  const result = outcomeOf(view.results.get(id), view.backgroundResults.get(id));
  const ended = callOf(event, 'finish')?.args.summary ?? callOf(event, 'think')?.args.thought;
  if (ended !== undefined) return [withoutMarks(ended)];
  const question = callOf(event, 'ask')?.args.question;
  if (question !== undefined)
    return [withoutMarks(question), (result && outputOf('ask', result.args)?.answer) ?? ''];
  const { verb, subject } = labelOfCall(event, view.commits.get(id));
  const edits = view.edits.get(id)?.flatMap(({ args }) => args.content.slice(0, shownEditLines));
  const output = result && hasFailed(result) ? tailOf(readableOutput(result.args)) : '';
  return [`${verb} ${subject}`, ...(edits ?? []), output];
}

/** Without the signs of Markdown that stand inside a sentence and are not shown. */
const withoutMarks = (text: string): string => text.replaceAll(/\*\*|`+/g, '');
