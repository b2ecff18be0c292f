import { randomUUID } from 'node:crypto';
import {
  AppError,
  errorFrom,
  isCall,
  isEvent,
  newEvent,
  oneLine,
  rewinds,
  type AgentProgram,
  type Event,
  type EventArgs,
  type OperationOutput,
  type TurnEnd,
} from '@belay/protocol';
import type { StopReason } from '@agentclientprotocol/sdk';
import type { Conversation } from '../../loop/conversation.js';
import { deliver } from '../../loop/deliver.js';
import type { AgentDriver, DriverOptions } from '../agent-driver.js';
import { LiveReply } from '../live-reply.js';
import { unreportedResult } from '../unreported-result.js';
import { UserQuestions } from '../user-questions.js';
import { isReply, promptTexts } from '../prompt-texts.js';
import { writeConversation } from '../write-conversation.js';
import { AcpConversation } from './acp-conversation.js';
import { HeldCalls } from './held-calls.js';
import { promptBlocks } from './prompt-blocks.js';
import { turnEnds, turnFailures } from './turn-ends.js';
import { TurnRecorder } from './turn-recorder.js';
import { watchSilence } from './watch-silence.js';

export interface AcpDriverOptions extends DriverOptions {
  program: AgentProgram;
  timeouts?: Partial<typeof usualTimeouts>;
}

/** In milliseconds. */
const usualTimeouts = {
  /** How long a program may take to answer when it starts. */
  start: 60_000,
  /** How long it may take to end a turn that the user cancelled, or for whose message it is to stop. */
  cancel: 5_000,
  shutdown: 1_000,
  steer: 10_000,
  /** How long it may be silent in a turn before the user is told, and before the turn is cancelled. */
  quiet: 20 * 60_000,
  silent: 60 * 60_000,
  /** A program that ends in a turn twice in this time is not started again. */
  deaths: 5 * 60_000,
};

/** A turn in progress. */
interface Turn {
  recorder: TurnRecorder;
  /** Aborted when it is to end early; the reason is why. */
  cancelled: AbortController;
  /** How long the program may then take, in milliseconds. */
  cancelTimeoutMs: number;
}

/** A program that speaks ACP. */
export class AcpDriver implements AgentDriver {
  readonly #options: AcpDriverOptions;
  readonly #timeouts: typeof usualTimeouts;
  readonly #conversation: AcpConversation;
  #turn: Turn | undefined;
  /** Whether the turn that is about to begin must not: its work has ended, or there is more to say. */
  #isCalledOff = false;
  #takesOver: boolean;
  #deaths: number[] = [];
  readonly #held: HeldCalls;
  readonly #live: LiveReply;

  constructor(options: AcpDriverOptions) {
    this.#options = options;
    this.#timeouts = { ...usualTimeouts, ...options.timeouts };
    this.#held = new HeldCalls(options.program.name);
    this.#live = new LiveReply(options.connection);
    this.#takesOver = options.log.seen.own > 0;
    this.#conversation = new AcpConversation({
      ...options,
      questions: new UserQuestions(options),
      startTimeoutMs: this.#timeouts.start,
      turn: () => this.#turn && { ...this.#turn, signal: this.#turn.cancelled.signal },
      heldCall: (call) => this.#held.find(call),
      shown: () => this.#live.flush(),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const why = new AppError('cancelled', 'The agent was stopped.');
    const stop = () => this.#cancel(why, this.#timeouts.shutdown);
    signal.addEventListener('abort', stop);
    try {
      while (!signal.aborted) await this.#step(signal);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    } finally {
      signal.removeEventListener('abort', stop);
      await this.#conversation.close();
    }
  }

  handle(events: readonly Event[]): void {
    for (const event of events) {
      this.#held.handle(event);
      // What the model said before the call belongs before the user’s decision.
      if (event.source === 'server' && isCall(event.action)) this.#turn?.recorder.hold();
      if (!this.#turn) this.#endUnreported();
      const ending = endingOf(event);
      if (ending) this.#cancel(ending);
      if (isEvent(event, 'message') && event.args.delivery === 'steer' && !this.#isAsking())
        this.#cancel(new AppError('cancelled', 'The user wrote.'), this.#timeouts.steer);
      if (isEvent(event, 'change')) void this.#change(event.args);
    }
  }

  prompt(): Promise<OperationOutput<'session.prompt'>> {
    const { title } = this.#options.program;
    return Promise.reject(
      new AppError('unavailable', `Only ${title} knows what it sends to its model.`),
    );
  }

  async guidanceChanged(): Promise<void> {
    // The program reads its files when it starts.
    if (!this.#turn) await this.#conversation.end();
  }

  /** A message answers an open question in place of ending the turn. */
  #isAsking(): boolean {
    return this.#options.log.conversation.question !== null;
  }

  /** A turn whose program cannot go on with the chosen model ends early; the next one has it. */
  async #change(change: EventArgs<'change'>): Promise<void> {
    const turn = this.#turn;
    if ((await this.#conversation.choose(change)) || this.#turn !== turn) return;
    this.#cancel(new AppError('cancelled', 'The user changed the model.'), this.#timeouts.steer);
  }

  #cancel(why: AppError, timeoutMs = this.#timeouts.cancel): void {
    this.#isCalledOff = true;
    const turn = this.#turn;
    if (!turn) return;
    turn.cancelTimeoutMs = timeoutMs;
    turn.cancelled.abort(why);
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { log, writer } = this.#options;
    this.#isCalledOff = false;
    await writer.flush();
    const { seen, conversation } = log;
    const { settings, program } = conversation;
    // The process that began the turn is gone.
    if (program?.hasTurn) return this.#closeTurn(program);
    if (!settings || conversation.ended || conversation.paused) return log.changed(signal);
    if (this.#takesOver) return this.#takeOver();
    try {
      const known = { through: seen.others, signal };
      const options = { log, deliverMessages: this.#options.deliver };
      if (!(await deliver(options, conversation.delivered, known))) return;
      await this.#runTurn(conversation, seen.others);
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      this.#interrupt(errorFrom(thrown));
    }
  }

  #takeOver(): void {
    this.#takesOver = false;
    const message = 'Another agent goes on with the session.';
    this.#options.writer.append(newEvent('agent', 'renewed', { args: {}, message }));
  }

  /** Writes the end of a turn, and of its calls, that an earlier process has begun. */
  #closeTurn({ open }: NonNullable<Conversation['program']>): void {
    const { writer } = this.#options;
    for (const { id, operation } of open) {
      const output = { code: 'cancelled', message: 'The agent was restarted while this ran.' };
      const args = { operation, ok: false, output, seconds: 0 };
      writer.append(newEvent('agent', 'result', { args, message: output.message, id }));
    }
    this.#writeEnd('interrupted');
  }

  /** Throws why the program cannot be prompted. */
  async #runTurn(conversation: Conversation, through: number): Promise<void> {
    const { writer, connection, program } = this.#options;
    const earlier = conversation.program?.id ?? (await this.#writeEarlier(conversation));
    const { acp, opened } = await this.#conversation.open(earlier);
    const texts = promptTexts(conversation, opened.id !== earlier);
    const { takesPictures } = acp;
    const blocks = await promptBlocks(texts, { connection, takesPictures });
    if (this.#isCalledOff || this.#conversation.isOutdated) return;
    const message = opened.fault
      ? `${program.title} cannot load its conversation (${oneLine(opened.fault)}): it begins anew with a transcript.`
      : 'A turn began.';
    const args = { change: 'began', conversation: opened.id, through } as const;
    writer.append(newEvent('agent', 'turn', { args, message }));
    const turn = this.#begin();
    this.#turn = turn;
    this.#conversation.tellFault();
    try {
      await writer.flush();
      const stopReason = await this.#promptUntilCancelled(() => acp.prompt(blocks), turn);
      turn.recorder.end('The turn ended before this did.');
      this.#endUnreported();
      await this.#options.recorded();
      this.#finish(stopReason, turn);
    } catch (thrown) {
      turn.recorder.end('The agent’s program ended while this ran.');
      this.#endUnreported();
      this.#writeEnd('interrupted');
      // A program may call its earlier model once more, which the server refuses.
      const isStale = turn.cancelled.signal.aborted || this.#conversation.isOutdated;
      if (!isStale) this.#survive(errorFrom(thrown));
    } finally {
      this.#turn = undefined;
      // What the program has asked in it has nobody left who waits for the answer.
      turn.cancelled.abort(new AppError('cancelled', 'The turn has ended.'));
    }
  }

  /** What other agents, or this one before a rewind, have said, as a conversation of the program’s own. */
  async #writeEarlier({ items }: Conversation): Promise<string | null> {
    if (!items.some(isReply)) return null;
    const { workspace: cwd } = (await this.#options.services).environment();
    const id = await writeConversation({ ...this.#options, cwd });
    // A running program need not notice a new file.
    if (id !== null) await this.#conversation.end();
    return id;
  }

  #begin(): Turn {
    const { program, runner, writer } = this.#options;
    const recorder = new TurnRecorder({
      agent: program.name,
      cwd: this.#conversation.cwd,
      writer,
      runner,
      heldCall: (call) => this.#held.find(call),
      isOwnTool: (report) => this.#conversation.isOwnTool(report),
      live: this.#live,
    });
    const cancelTimeoutMs = this.#timeouts.cancel;
    return { recorder, cancelled: new AbortController(), cancelTimeoutMs };
  }

  /** The stop reason; rejects when the program ended, or was ended because it did not stop when it had to. */
  async #promptUntilCancelled(prompt: () => Promise<StopReason>, turn: Turn): Promise<StopReason> {
    const ended = new AbortController();
    const watched = this.#watchSilence(ended.signal);
    const { signal } = turn.cancelled;
    const stop = () => void this.#conversation.cancel(turn.cancelTimeoutMs, ended.signal);
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    try {
      return await prompt();
    } finally {
      signal.removeEventListener('abort', stop);
      ended.abort();
      await watched;
    }
  }

  #watchSilence(signal: AbortSignal): Promise<void> {
    const { title } = this.#options.program;
    const { quiet: quietMs, silent: silentMs } = this.#timeouts;
    const tell = (why: string | null) => {
      const message = why ?? `${title} goes on.`;
      this.#options.writer.append(newEvent('agent', 'attention', { args: { why }, message }));
    };
    const idleMs = () => this.#conversation.idleMs();
    const cancel = (why: string) => this.#cancel(new AppError('cancelled', why));
    return watchSilence({ title, quietMs, silentMs, idleMs, tell, cancel }, signal);
  }

  #finish(stopReason: StopReason, { recorder, cancelled }: Turn): void {
    this.#writeEnd(turnEnds[stopReason]);
    if (cancelled.signal.aborted || stopReason === 'cancelled') return;
    const { conversation } = this.#options.log;
    if (conversation.waiting.length + conversation.delivered.length > 0) return;
    const failure = turnFailures[stopReason];
    if (failure === undefined) this.#writeDone(recorder.said);
    else this.#writeFailure(`${this.#options.program.title} ${failure}`);
  }

  /** Programs report neither all of their tools, nor calls that they never got. */
  #endUnreported(): void {
    const { cwd } = this.#conversation;
    for (const call of this.#held.takeUnreported())
      this.#options.writer.append(unreportedResult(call, { text: '', cwd }));
  }

  #writeEnd(end: TurnEnd): void {
    const args = { change: 'ended', end } as const;
    this.#options.writer.append(newEvent('agent', 'turn', { args, message: `Turn ${end}.` }));
  }

  #writeDone(text: string): void {
    const args = { text: text.slice(0, 100_000) };
    this.#options.writer.append(
      newEvent('agent', 'end', { args, message: oneLine(text) || 'Done.' }),
    );
  }

  #writeFailure(summary: string): void {
    const { writer } = this.#options;
    const [operation, id] = ['finish', `finish-${randomUUID()}`];
    const output = { outcome: 'failure', summary };
    writer.append({ source: 'agent', action: operation, args: output, message: summary, id });
    const args = { operation, ok: true, output, seconds: 0 };
    writer.append(newEvent('agent', 'result', { args, message: summary, id }));
  }

  /** A program that ended in its turn is started again; throws if it ended before, or reported an error. */
  #survive(error: AppError): void {
    if (error.code !== 'unavailable') throw error;
    const now = Date.now();
    this.#deaths = [...this.#deaths.filter((at) => now - at < this.#timeouts.deaths), now];
    if (this.#deaths.length < 2) return;
    this.#deaths = [];
    throw error;
  }

  /** The work waits until the user acts. */
  #interrupt(error: AppError): void {
    const { writer } = this.#options;
    writer.append(newEvent('agent', 'error', { args: error.toJSON(), message: error.message }));
  }
}

/** Why the work must end at once; undefined for an event that does not end it. */
function endingOf(event: Event): AppError | undefined {
  const cancelled = (sentence: string) => new AppError('cancelled', sentence);
  if (event.action === 'limit') return new AppError('limit_reached', event.message);
  if (event.action === 'stop') return cancelled('The user stopped the agent.');
  if (isEvent(event, 'pause') && event.args.now)
    return cancelled('The user interrupted the agent.');
  return rewinds(event, 'conversation')
    ? cancelled('The user rewound the conversation.')
    : undefined;
}
