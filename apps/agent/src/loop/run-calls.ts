import { errorFrom, fact, type Event, type OperationCall } from '@belay/protocol';
import { attempt, operationName, type Answered, type Attempt } from './attempt.js';
import { conversation, type Conversation, type OpenCall } from './conversation.js';
import { guide } from './guide.js';
import type { LoopOptions } from './loop-options.js';
import { stuckNote } from './stuck.js';
import { oneLine } from './subject.js';
import { pathsOf } from './touched.js';

/** How many calls run at the same time at most. */
const atOnce = 8;

/**
 * Runs the next call of the last reply, together with the reads that follow it when it is one itself, and writes
 * their results in the order of the calls, whatever happens: one that cannot be run gets a result with one sentence
 * for the model. Only `ask` without an answer yet leaves without a result.
 */
export async function runCalls(
  options: LoopOptions,
  now: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const attempts = together(now.open, options.offered).map(
    (open) => [open.call, attempt(options, now, { ...open, signal })] as const,
  );
  const paths: string[] = [];
  for (const [call, attempted] of attempts) {
    const { answer, ran }: Attempt = await attempted;
    if (!answer) return;
    // What is said of this result may depend on the ones before it.
    await options.journal.flush();
    writeResult(options, call, answer);
    if (!ran) continue;
    options.record({ ...ran, id: call.id });
    paths.push(...pathsOf(ran, answer.output));
  }
  await guide(options, now, paths);
}

/** The first call, and those that may run beside it. */
function together(open: readonly OpenCall[], offered: LoopOptions['offered']): readonly OpenCall[] {
  const end = open.findIndex(({ call }) => !isLook(call, offered));
  return open.slice(0, Math.min(atOnce, Math.max(1, end < 0 ? open.length : end)));
}

/** Reads change nothing that another one sees. The browser has one page, and a plan or a question its place. */
function isLook(call: OperationCall, offered: LoopOptions['offered']): boolean {
  const name = operationName(call, offered);
  const operation = offered.find((one) => one.name === name);
  if (operation?.risk !== 'read') return false;
  return !operation.name.startsWith('browser.') && !inPlace.has(operation.name);
}

const inPlace = new Set(['ask', 'finish', 'plan.update']);

function writeResult(options: LoopOptions, call: OperationCall, answer: Answered): void {
  const args = { operation: operationName(call, options.offered), images: [], ...answer };
  const body = { args, message: describe(args), id: call.id };
  const result = fact('agent', 'result', body);
  const note = stuckNote(conversation([...options.log.events, atEnd(result)]));
  options.journal.append(
    note ? fact('agent', 'result', { ...body, args: { ...args, note } }) : result,
  );
}

/** The event as if it were the last of the log. */
function atEnd(event: ReturnType<typeof fact>): Event {
  return { ...event, time: '', seq: Number.MAX_SAFE_INTEGER };
}

function describe({ operation, ok, output, seconds }: Answered & { operation: string }): string {
  const took = `${seconds.toFixed(1)} s`;
  if (!ok) return oneLine(`${operation} failed: ${errorFrom(output).message}`);
  const exit = (output as { exitCode?: number | null } | null)?.exitCode;
  return typeof exit === 'number'
    ? `${operation} exited with ${exit} after ${took}`
    : `${operation} done in ${took}`;
}
