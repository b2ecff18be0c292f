import { errorShape, excerpt, outputOf, type OperationCall } from '@belay/protocol';
import type { CallResult, Item, TextItem } from './conversation.js';

/** The newest words of the user stay whole up to this many characters, about 20,000 tokens. */
const wholeCharacters = 80_000;
/** Of older ones, this much of the beginning and the end. */
const restOfOld = 400;

/**
 * The texts that stay when items are replaced by a summary, in their order: the task, pinned texts and guidance, and all
 * that the user wrote: messages, answers, and the reasons of rejections.
 */
export function keptWords(items: readonly Item[]): TextItem[] {
  const words = items.flatMap(wordsIn);
  let left = wholeCharacters;
  const kept = words.toReversed().map((word) => {
    if (word.pinned) return word;
    const text = word.text.length <= left ? word.text : cutText(word.text, left);
    left = Math.max(0, left - text.length);
    return text === word.text ? word : { ...word, text };
  });
  return kept.reverse();
}

function wordsIn(item: Item): TextItem[] {
  if (item.kind === 'text') return item.pinned || item.byUser ? [item] : [];
  if (item.kind !== 'turn') return [];
  const { say, results } = item.turn;
  return say.calls.flatMap((call) => {
    const result = results.get(call.id);
    const text = result && saidIn(call, result);
    if (text === undefined) return [];
    const images = result?.images ?? [];
    return [{ kind: 'text', text, images, pinned: false, byUser: true } as const];
  });
}

/** What the user said in the result of a call. */
function saidIn({ operation, input }: OperationCall, result: CallResult): string | undefined {
  const answer = outputOf('ask', result)?.answer;
  if (answer !== undefined) return `You asked: ${questionIn(input)}\nThe user answered: ${answer}`;
  const reason = result.ok ? undefined : rejectionIn(result.output);
  if (reason === undefined) return undefined;
  return `You called ${excerpt(`${operation} ${JSON.stringify(input ?? {})}`, 300)}\n${reason}`;
}

const questionIn = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'question' in input ? String(input.question) : '';

/** The user’s rejections have a reason of their own; rules always say the same. */
function rejectionIn(output: unknown): string | undefined {
  const error = errorShape.safeParse(output).data;
  return error?.code === 'rejected' && error.message.includes(': ') ? error.message : undefined;
}

function cutText(text: string, left: number): string {
  const half = Math.floor(Math.max(left, restOfOld) / 2);
  if (text.length <= 2 * half + 100) return text;
  const cut = text.length - 2 * half;
  return `${text.slice(0, half).toWellFormed()}\n[… ${cut} characters of this message were left out to save space …]\n${text.slice(-half).toWellFormed()}`;
}
