import {
  AppError,
  errorFrom,
  fact,
  type Event,
  type EventArgs,
  type OperationCall,
} from '@belay/protocol';
import { checkCall, modelOperations, type Checked } from '../dispatch.js';
import { conversation, type Conversation, type OpenCall } from './conversation.js';
import type { LoopOptions } from './loop-options.js';
import { operationCalled } from './prompt.js';
import { stuckNote } from './stuck.js';
import { inWords, oneLine, subjectOf } from './subject.js';
import { pathsOf } from './touched.js';

type Result = EventArgs<'result'>;

/**
 * Runs one call of the last reply and writes its result, whatever happens: a call that cannot be run gets a result
 * with one sentence for the model. `ask` without an answer yet leaves without a result.
 */
export async function runCall(
  options: LoopOptions,
  now: Conversation,
  open: OpenCall & { signal: AbortSignal },
): Promise<void> {
  const { call } = open;
  const started = performance.now();
  const end = (answer: Pick<Result, 'ok' | 'output'> & Partial<Result>) =>
    writeResult(options, call, { ...answer, seconds: (performance.now() - started) / 1000 });
  let checked: Checked | undefined;
  let output: unknown;
  try {
    checked = check(call);
    const { name } = checked.operation;
    if (name === 'ask') return await ask(options, now, { ...open, checked });
    if (name === 'finish') return await finish(options, now, { ...open, checked });
    if (open.begun) throw new AppError('cancelled', 'The agent was restarted while this ran.');
    begin(options, call.id, checked);
    await permit(options, call.id, { ...checked, signal: open.signal });
    const context = { id: call.id, source: 'agent', signal: open.signal } as const;
    output = await options.perform(checked, context);
    end({ ok: true, output, images: imagesOf(output, checked) });
  } catch (thrown) {
    const error = errorFrom(open.signal.aborted ? open.signal.reason : thrown);
    end({ ok: false, output: error.toJSON() });
  }
  if (!checked) return;
  options.record({ ...checked, id: call.id });
  await guide(options, now, pathsOf(checked, output));
}

/** Reads guidance that the workspace has for these paths, when a person trusts it. */
export async function guide(
  options: LoopOptions,
  { trusted, guidance }: Conversation,
  paths: readonly string[],
): Promise<void> {
  if (!trusted) return;
  const files = await options.guidance(paths, guidance);
  if (files.length === 0) return;
  const names = files.map((file) => file.path).join(', ');
  options.journal.append(
    fact('agent', 'guidance', { args: { files }, message: `Follows ${names}` }),
  );
}

function check(call: OperationCall): Checked {
  if (call.invalid !== undefined) {
    throw new AppError(
      'invalid_input',
      `The input of ${call.operation} could not be read: ${call.invalid}. Call again with valid JSON.`,
    );
  }
  const name = operationCalled(call.operation, modelOperations) ?? call.operation;
  return checkCall(name, call.input, 'model');
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
): Promise<void> {
  if (now.waiting.length > 0 && !begun) {
    throw new AppError(
      'conflict',
      'The person wrote meanwhile. Read the message, act on it, and finish afterwards.',
    );
  }
  await options.recorded();
  if (!begun) begin(options, call.id, checked);
  writeResult(options, call, { ok: true, output: {}, seconds: 0 });
}

async function ask(
  options: LoopOptions,
  now: Conversation,
  { call, begun, checked, signal }: OpenCall & { checked: Checked; signal: AbortSignal },
): Promise<void> {
  if (!begun) begin(options, call.id, checked);
  const [answer] = now.waiting;
  if (!answer) return begun ? options.log.changed(signal) : undefined;
  writeResult(options, call, {
    ok: true,
    output: { answer: answer.text },
    images: answer.images,
    seconds: 0,
  });
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

function writeResult(
  options: LoopOptions,
  call: OperationCall,
  answer: Pick<Result, 'ok' | 'output' | 'seconds'> & Partial<Result>,
): void {
  const args = { operation: operationName(call), images: [], ...answer };
  const body = { args, message: describe(call, args), id: call.id };
  const result = fact('agent', 'result', body);
  const note = stuckNote(conversation([...options.log.events, atEnd(result)]));
  options.journal.append(
    note ? fact('agent', 'result', { ...body, args: { ...args, note } }) : result,
  );
}

const operationName = (call: OperationCall) =>
  operationCalled(call.operation, modelOperations) ?? call.operation;

/** The event as if it were the last of the log. */
function atEnd(event: ReturnType<typeof fact>): Event {
  return { ...event, time: '', seq: Number.MAX_SAFE_INTEGER };
}

function describe(call: OperationCall, { ok, output, seconds }: Omit<Result, 'note'>): string {
  const name = operationName(call);
  const took = `${seconds.toFixed(1)} s`;
  if (!ok) return oneLine(`${name} failed: ${errorFrom(output).message}`);
  const exit = (output as { exitCode?: number | null } | null)?.exitCode;
  return typeof exit === 'number'
    ? `${name} exited with ${exit} after ${took}`
    : `${name} done in ${took}`;
}

function imagesOf(output: unknown, { operation }: Checked): string[] {
  return operation.name === 'browser.screenshot' ? [(output as { image: string }).image] : [];
}
