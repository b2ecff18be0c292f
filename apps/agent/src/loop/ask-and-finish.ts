import { AppError, type EventArgs } from '@belay/protocol';
import { budgetNotice } from './budget-notice.js';
import { isAnswer, type Conversation } from './conversation.js';
import { deliver } from './deliver.js';
import { doubtedFinish } from './finish-doubts.js';
import type { LoopOptions } from './loop-options.js';

/** A call of one of the loop's own operations. */
interface LoopCall {
  input: Record<string, unknown>;
  begun: boolean;
  /** Writes the call to the log. */
  begin(): void;
  signal: AbortSignal;
}

/** A call’s result without the fields that are the same for all. */
export type LoopResult = Pick<EventArgs<'result'>, 'ok' | 'output' | 'seconds'> & {
  images?: string[];
  note?: string;
} & Pick<EventArgs<'result'>, 'edited'>;

export type LoopHandler = (
  options: LoopOptions,
  conversation: Conversation,
  call: LoopCall,
) => Promise<LoopResult | null>;

/** Null while the user has not answered; the loop calls again after the next event. */
export async function ask(
  options: LoopOptions,
  { waiting }: Conversation,
  { begun, begin, signal }: LoopCall,
): Promise<LoopResult | null> {
  const { log } = options;
  const through = log.seen.others;
  if (!begun) begin();
  const answer = waiting.find(isAnswer);
  if (answer) {
    if (!(await deliver(options, [answer], { through, signal }))) return null;
    return { ok: true, output: { answer: answer.text }, images: answer.images, seconds: 0 };
  }
  if (begun) await log.changed(signal);
  return null;
}

/** Ends the work once the model has seen everything, because results that arrive with the call may contradict it. */
export async function finish(
  options: LoopOptions,
  conversation: Conversation,
  { input, begun, begin }: LoopCall,
): Promise<LoopResult> {
  const { hooks } = options;
  const { items, background } = conversation;
  const last = items.at(-1);
  if (last?.kind === 'turn' && last.turn.say.calls.length > 1) {
    throw new AppError(
      'conflict',
      'Not finished: finish counts only alone in its reply. Look at the results of the other calls, and call it then.',
    );
  }
  for (const [what, sentence] of unseen) {
    if (conversation[what].length > 0) throw new AppError('conflict', `Not finished: ${sentence}`);
  }
  if (background.some(({ left }) => !left)) {
    const calls = background.map(({ id, operation }) => `${operation} (${id})`).join(', ');
    throw new AppError(
      'conflict',
      `Not finished: the end of the session would end what runs in the background: ${calls}. Reply without a call to wait for the results, or finish again to do without them.`,
      { left: background.map(({ id }) => id) },
    );
  }
  await hooks.settled();
  const doubt = await doubtOf(options, input);
  if (doubt) throw doubt;
  if (!begun) begin();
  // Some models say it in their reply.
  const text = last?.kind === 'turn' ? last.turn.say.text : '';
  const summary = String(input['summary']).trim() || text.trim();
  return { ok: true, output: { ...input, summary }, seconds: 0 };
}

/** A successful end is doubted once, unless the rest of a budget is needed for it. */
async function doubtOf({ log, writer }: LoopOptions, input: LoopCall['input']) {
  if (input['outcome'] === 'failure') return undefined;
  // The changes of the last calls are in the log now.
  await writer.flush();
  const { conversation, spending } = log;
  if (conversation.doubted || budgetNotice(spending, Date.now()) !== null) return undefined;
  return doubtedFinish(conversation);
}

/** Items that no prompt has contained yet. */
const unseen = [
  ['waiting', 'the user wrote meanwhile. Read the message, act on it, and finish afterwards.'],
  ['notes', 'the user changed something by hand meanwhile. Look at it, and finish afterwards.'],
  ['ends', 'a background command ended meanwhile. Look at how it ended, and finish afterwards.'],
  [
    'backgroundResults',
    'the result of a call in the background came meanwhile. Look at it, and finish afterwards.',
  ],
] as const;
