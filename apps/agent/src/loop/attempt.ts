import {
  AppError,
  errorFrom,
  type EventArgs,
  type McpOutput,
  type Operation,
  type OperationCall,
} from '@belay/protocol';
import { checkCall, type Checked } from '../dispatch.js';
import { isMcp } from '../mcp/mcp.js';
import { conversation, type Conversation, type OpenCall } from './conversation.js';
import type { LoopOptions } from './loop-options.js';
import { operationCalled } from './prompt.js';
import { inWords, subjectOf } from './subject.js';

type Result = EventArgs<'result'>;

export type Answered = Pick<Result, 'ok' | 'output' | 'seconds'> & Partial<Result>;

export interface Attempt {
  /** Null for an `ask` that still waits. */
  answer: Answered | null;
  /** The operation, when it was one of the sandbox's. */
  ran?: Checked;
}

/** The operation that a model named, in the platform's spelling when there is one. */
export const operationName = (call: OperationCall, offered: readonly Operation[]): string =>
  operationCalled(call.operation, offered) ?? call.operation;

/**
 * Begins a call, which is in the log before the first `await`, and does what it asks for. Never rejects: what goes
 * wrong is the answer.
 */
export async function attempt(
  options: LoopOptions,
  now: Conversation,
  open: OpenCall & { signal: AbortSignal },
): Promise<Attempt> {
  const { call, begun, signal } = open;
  const started = performance.now();
  let ran: Checked | undefined;
  const answered = (answer: Omit<Answered, 'seconds'>): Attempt => ({
    answer: { ...answer, seconds: (performance.now() - started) / 1000 },
    ...(ran && { ran }),
  });
  try {
    const checked = check(call, options.offered);
    const { name } = checked.operation;
    if (name === 'ask') return { answer: await ask(options, now, { ...open, checked }) };
    if (name === 'finish') return { answer: await finish(options, now, { ...open, checked }) };
    ran = checked;
    if (begun) throw new AppError('cancelled', 'The agent was restarted while this ran.');
    begin(options, call.id, checked);
    await permit(options, call.id, { ...checked, signal });
    const output = await options.perform(checked, { id: call.id, source: 'agent', signal });
    return answered({ ok: true, output, images: imagesOf(output, checked) });
  } catch (thrown) {
    const error = errorFrom(signal.aborted ? signal.reason : thrown);
    return answered({ ok: false, output: error.toJSON() });
  }
}

function check(call: OperationCall, offered: readonly Operation[]): Checked {
  if (call.invalid !== undefined) {
    throw new AppError('invalid_input', `${call.operation} was not run. ${call.invalid}`);
  }
  return checkCall(operationName(call, offered), call.input, offered);
}

function begin(options: LoopOptions, id: string, { operation, input }: Checked): void {
  options.journal.append({
    source: 'agent',
    action: operation.name,
    args: input,
    message: inWords(operation, input, options.page()),
    id,
  });
}

/** What the person wrote meanwhile is read before the work may end. */
async function finish(
  options: LoopOptions,
  now: Conversation,
  { call, begun, checked }: OpenCall & { checked: Checked },
): Promise<Answered> {
  if (now.waiting.length > 0) {
    throw new AppError(
      'conflict',
      'The person wrote meanwhile. Read the message, act on it, and finish afterwards.',
    );
  }
  await options.recorded();
  if (!begun) begin(options, call.id, checked);
  return { ok: true, output: checked.input, seconds: 0 };
}

async function ask(
  options: LoopOptions,
  now: Conversation,
  { call, begun, checked, signal }: OpenCall & { checked: Checked; signal: AbortSignal },
): Promise<Answered | null> {
  if (!begun) begin(options, call.id, checked);
  const [answer] = now.waiting;
  if (answer) {
    return { ok: true, output: { answer: answer.text }, images: answer.images, seconds: 0 };
  }
  if (begun) await options.log.changed(signal);
  return null;
}

/** Waits for the approval of a call that needs one, and then through a pause. Throws `rejected` with the reason. */
async function permit(
  options: LoopOptions,
  id: string,
  { operation, input, signal }: Checked & { signal: AbortSignal },
): Promise<void> {
  const { name, risk } = operation;
  if (risk !== 'execute' && risk !== 'network') return;
  const subject = subjectOf(operation, input, options.page());
  // Who is asked has seen the call itself before: the question follows it in the log.
  await options.journal.flush();
  const { verdict, reason } = await options.approve(
    { id, operation: name, input, risk, subject },
    signal,
  );
  if (verdict === 'rejected') {
    throw new AppError('rejected', `The person did not allow this${reason ? `: ${reason}` : '.'}`);
  }
  while (conversation(options.log.events).paused) await options.log.changed(signal);
}

function imagesOf(output: unknown, checked: Checked): string[] {
  if (isMcp(checked)) return (output as McpOutput).images ?? [];
  const isPicture = checked.operation.name === 'browser.screenshot';
  return isPicture ? [(output as { image: string }).image] : [];
}
