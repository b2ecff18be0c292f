import {
  AppError,
  describeCall,
  errorFrom,
  excerpt,
  foreignCall,
  imagesOf,
  isStarted,
  jsonFault,
  lenientInput,
  newEvent,
  oneLine,
  operationNamed,
  operations,
  pathsOf,
  runResultOf,
  toolName,
  elapsedText,
  type LoopOperation,
  type Operation,
  type OperationCall,
} from '@belay/protocol';
import { checkCall, type CheckedCall } from '../check-call.js';
import { ask, finish, type LoopHandler, type LoopResult } from './ask-and-finish.js';
import type { Conversation, OpenCall } from './conversation.js';
import { guide } from './guide.js';
import type { LoopOptions } from './loop-options.js';
import { stuckNote } from './stuck.js';

/** The number of calls that may run at the same time. */
const atOnce = 8;

/** The signals that cancel a call, or only end its wait. */
interface Signals {
  signal: AbortSignal;
  userWrote: AbortSignal;
}

/** A call of the last reply that was checked and started. */
interface Execution {
  /** Null for an `ask` that is waiting. */
  outcome: LoopResult | null;
  /** The call, if the sandbox runs it. */
  ran?: CheckedCall;
}

/**
 * Runs the next call of the last reply; if it is a read, also the reads that follow it. Writes the results in the
 * order of the calls, in any case: a call that cannot run gets a result with one sentence for the model. Only an
 * unanswered `ask` ends without a result.
 */
export async function executeCalls(
  options: LoopOptions,
  conversation: Conversation,
  signals: Signals,
): Promise<void> {
  const open = conversation.open.map((one) => ({
    ...one,
    call: meantCall(one.call, options.offered),
  }));
  const executions = concurrent(open, options.offered).map(
    (one) => [one.call, execute(options, conversation, { ...one, ...signals })] as const,
  );
  const paths: string[] = [];
  for (const [call, execution] of executions) {
    const { outcome, ran } = await execution;
    if (!outcome) return;
    // This result’s note may depend on earlier results.
    await options.writer.flush();
    const refusals = ran && (await options.hooks.refusals());
    const note = [outcome.note, refusals].filter(Boolean).join('\n\n');
    writeResult(options, call, { ...outcome, ...(note && { note }) });
    if (!ran) continue;
    options.hooks.afterCall(call.id, ran);
    paths.push(...pathsOf(ran.operation, ran.input, outcome.output));
  }
  await guide(options, conversation, paths);
}

/**
 * Refuses calls that have not started after a message of the user, because the model may want others once it has read
 * it.
 */
export async function refuseCalls(options: LoopOptions, { open }: Conversation): Promise<void> {
  for (const { call, begun } of open) {
    if (begun) continue;
    await options.writer.flush();
    writeResult(options, call, { ok: false, output: notRun().toJSON(), seconds: 0 });
  }
}

const notRun = (): AppError =>
  new AppError(
    'cancelled',
    'Not run: the user wrote. Read the message, then call what is still right.',
  );

/** The first call, and those that may run at the same time. */
function concurrent(
  open: readonly OpenCall[],
  offered: LoopOptions['offered'],
): readonly OpenCall[] {
  const end = open.findIndex(({ call }) => !operationOf(call, offered)?.concurrent);
  return open.slice(0, Math.min(atOnce, Math.max(1, end < 0 ? open.length : end)));
}

/** Logs a call before the first `await`, and runs it. Never rejects: a failure is an outcome. */
async function execute(
  options: LoopOptions,
  conversation: Conversation,
  { call, begun, signal, userWrote }: OpenCall & Signals,
): Promise<Execution> {
  // The time of its approval and of pauses is not counted.
  let started: number | undefined;
  const { files: known } = conversation.files;
  const context = { id: call.id, source: 'agent', signal, userWrote, known } as const;
  let ran: CheckedCall | undefined;
  let change: Pick<LoopResult, 'note' | 'edited'> = {};
  const ended = (outcome: Omit<LoopResult, 'seconds'>): Execution => ({
    outcome: {
      ...outcome,
      seconds: started === undefined ? 0 : (performance.now() - started) / 1000,
      ...change,
    },
    ...(ran && { ran }),
  });
  try {
    const checked = check(call, options.offered);
    const begin = () => appendCall(options, call.id, checked);
    const own = loopHandlers[checked.operation.name];
    if (own) {
      const outcome = await own(options, conversation, {
        begun,
        begin,
        signal,
        input: checked.input,
      });
      return { outcome };
    }
    ran = checked;
    if (begun) throw new AppError('cancelled', 'The agent was restarted while this ran.');
    begin();
    const waits = AbortSignal.any([signal, userWrote]);
    const allowed = await options.hooks
      .beforeCall(checked, { ...context, signal: waits })
      .catch((thrown: unknown) => {
        throw userWrote.aborted ? notRun() : thrown;
      });
    if (allowed.edited) change = changeOf(allowed);
    ran = allowed;
    started = performance.now();
    const output = await options.runCall(allowed, context);
    return ended({ ok: true, output, images: [...imagesOf(allowed.operation, output)] });
  } catch (thrown) {
    const error = errorFrom(signal.aborted ? signal.reason : thrown);
    return ended({ ok: false, output: error.toJSON() });
  }
}

/** What ran in place of a call, for the model and for the log. */
const changeOf = ({
  operation,
  input,
  edited,
}: CheckedCall): Pick<LoopResult, 'note' | 'edited'> => ({
  note: `The user changed this call before allowing it. This ran instead: ${operation.summary(input, { page: null })}`,
  edited,
});

const loopHandlers: Readonly<Record<string, LoopHandler | undefined>> = {
  ask,
  finish,
} satisfies Record<LoopOperation, LoopHandler>;

function check(call: OperationCall, offered: LoopOptions['offered']): CheckedCall {
  if (call.invalid !== undefined) {
    throw new AppError('invalid_input', `${call.operation} was not run. ${call.invalid}`);
  }
  const operation = operationOf(call, offered);
  const input = operation ? lenientInput(operation, call.input).input : call.input;
  const checked = checkCall(operationName(call, offered), input, offered);
  // The log would shorten it, and the user would then decide on a different call.
  const fault = jsonFault(checked.input);
  if (fault === undefined) return checked;
  throw new AppError('too_large', `The input of ${call.operation} ${fault}. Nothing was run.`);
}

/**
 * The operation that a model named, possibly in the form of a tool’s name. Models also confuse the separators, as in
 * `files_replace_text`; in names of MCP servers, separators distinguish tools.
 */
const operationOf = (
  { operation: name }: OperationCall,
  offered: LoopOptions['offered'],
): Operation | undefined =>
  offered.find((one) => one.name === name) ??
  offered.find((one) => toolName(one.name) === name) ??
  offered.find((one) => operationNamed(one.name) && words(one.name) === words(name));

/** A call of a tool that the model knows from another harness as the call of the operation that it means. */
function meantCall(call: OperationCall, offered: LoopOptions['offered']): OperationCall {
  if (call.invalid !== undefined || operationOf(call, offered)) return call;
  const meant = foreignCall(call.operation, call.input);
  if (meant === undefined) return call;
  if (typeof meant === 'string') return { ...call, invalid: meant };
  const isOffered = offered.some(({ name }) => name === meant.operation);
  const { title } = operations[meant.operation];
  return isOffered
    ? { ...call, ...meant }
    : { ...call, invalid: `This session has no operation for that: ${title}.` };
}

const words = (name: string): string => name.replaceAll(/[._-]/g, ' ').toLowerCase();

/** The platform’s name of the operation, if there is one. */
const operationName = (call: OperationCall, offered: LoopOptions['offered']): string =>
  operationOf(call, offered)?.name ?? excerpt(call.operation, 300);

function appendCall(options: LoopOptions, id: string, { operation, input }: CheckedCall): void {
  options.writer.append({
    source: 'agent',
    action: operation.name,
    args: input,
    message: describeCall(operation, input, options.workspace.page()),
    id,
  });
}

function writeResult(options: LoopOptions, call: OperationCall, outcome: LoopResult): void {
  const args = { operation: operationName(call, options.offered), images: [], ...outcome };
  const body = { args, message: describeOutcome(args), id: call.id };
  const result = newEvent('agent', 'result', body);
  const conversation = options.log.conversationWith(result);
  const stuck = stuckNote(conversation);
  const note = [outcome.note, ignoredNote(call, conversation, options.offered), stuck]
    .filter(Boolean)
    .join('\n\n');
  options.writer.append(
    note ? newEvent('agent', 'result', { ...body, args: { ...args, note } }) : result,
  );
}

/** Names inputs that the operation does not have, so that the model does not rely on them; each is named once. */
function ignoredNote(
  call: OperationCall,
  { items }: Pick<Conversation, 'items'>,
  offered: LoopOptions['offered'],
): string | undefined {
  const operation = operationOf(call, offered);
  if (!operation) return undefined;
  const ignoredOf = (input: unknown): string[] => lenientInput(operation, input).ignored;
  const ignored = ignoredOf(call.input);
  if (ignored.length === 0) return undefined;
  const earlier = items
    .flatMap((item) => (item.kind === 'turn' ? [item.turn] : []))
    .flatMap(({ say, results }) => say.calls.filter(({ id }) => id !== call.id && results.has(id)))
    .map((one) => meantCall(one, offered))
    .filter((one) => operationOf(one, offered) === operation)
    .flatMap(({ input }) => ignoredOf(input));
  const fresh = ignored.filter((name) => !earlier.includes(name));
  if (fresh.length === 0) return undefined;
  const names = fresh.slice(0, 20).map((name) => `\`${excerpt(name, 60).replaceAll('`', "'")}\``);
  const more = fresh.length > names.length ? ', …' : '';
  return `${operation.name} has no input ${names.join(', ')}${more}: ignored.`;
}

function describeOutcome({
  operation,
  ok,
  output,
  seconds,
}: LoopResult & { operation: string }): string {
  const took = elapsedText(seconds);
  if (!ok) return oneLine(`${operation} failed: ${errorFrom(output).message}`);
  if (isStarted({ operation, ok, output })) return `${operation} runs in the background`;
  const exit = runResultOf({ operation, ok, output })?.exitCode;
  return typeof exit === 'number'
    ? `${operation} exited with ${exit} after ${took}`
    : `${operation} done in ${took}`;
}
