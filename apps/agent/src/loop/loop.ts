import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  errorFrom,
  hostQuestionPrefix,
  isEvent,
  jsonFault,
  newEvent,
  oneLine,
  rewinds,
  userCallPrefix,
  type Event,
  type ModelReply,
} from '@belay/protocol';
import { newNotice } from './budget-notice.js';
import { compact } from './compact.js';
import { isAnswer, silentReply, type Conversation } from './conversation.js';
import { deliver } from './deliver.js';
import { executeCalls, refuseCalls } from './execute-calls.js';
import { guide } from './guide.js';
import { listedOperations } from './listed-operations.js';
import type { LoopOptions } from './loop-options.js';
import { prompt } from './prompt.js';
import { sentSize, usualCharactersPerToken } from './sent-size.js';
import { silentEnd, type SilentEnd } from './silent-replies.js';
import { stuckQuestion } from './stuck.js';

/** Above this share of the model's window, the conversation is shortened before the next query. */
const compactAbove = 0.8;
const retryDelayMs = 1_000;
/** Prompts of fewer tokens consist mostly of the descriptions of operations, which are not measured. */
const fewTokens = 20_000;

type Seen = LoopOptions['log']['seen'];
/** The parts of a prompt that cannot be derived from other events of the log. */
type Prompted = { seen: Seen; sandbox?: string; notice?: string };

/**
 * The agent's loop. It has no state that must survive: each step reads the conversation from the log, does the next
 * thing, and writes the outcome. A restart is therefore a step like any other.
 */
export class Loop {
  readonly #options: LoopOptions;
  #stepAbort = new AbortController();
  /** Aborted by an immediate message: waiting calls of this step return, and its reply is broken off. */
  #userWrote = new AbortController();
  /** The share of the model's window used by the last prompt and its reply. */
  #windowShare = 0;
  /** The model’s window in tokens, once it is known. */
  #window: number | null = null;
  #charactersPerToken = usualCharactersPerToken;
  #overflow = false;
  /** Whether an earlier agent has worked on the session, and the log does not say yet that another one goes on. */
  #takesOver: boolean;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#takesOver = options.log.seen.own > 0;
  }

  /** Runs until `signal` aborts, across any number of ends and restarts of the work. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.#stepAbort.abort(signal.reason);
    signal.addEventListener('abort', stop);
    try {
      await guide(this.#options, this.#options.log.conversation, []);
      while (!signal.aborted) {
        this.#stepAbort = new AbortController();
        this.#userWrote = new AbortController();
        await this.#step(this.#stepAbort.signal).catch((error: unknown) => {
          if (!this.#stepAbort.signal.aborted) throw error;
        });
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Cancels the current step, or its wait, if one of these events, which are already logged, requires it. */
  handle(events: readonly Event[]): void {
    for (const event of events) {
      const { action, message } = event;
      if (isEvent(event, 'message') && event.args.delivery === 'steer') this.#userWrote.abort();
      if (action === 'stop') this.#cancelStep('cancelled', 'The user stopped the agent.');
      if (isEvent(event, 'pause') && event.args.now)
        this.#cancelStep('cancelled', 'The user interrupted the agent.');
      if (action === 'limit') this.#cancelStep('limit_reached', message);
      if (rewinds(event, 'conversation')) {
        this.#cancelStep('cancelled', 'The user rewound the conversation.');
      }
    }
  }

  #cancelStep(code: 'cancelled' | 'limit_reached', sentence: string): void {
    this.#stepAbort.abort(new AppError(code, sentence));
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { log, writer } = this.#options;
    await writer.flush();
    const { seen, conversation } = log;
    const { settings, ended, paused, question, open } = conversation;
    if (!settings || ended || paused) return log.changed(signal);
    if (this.#takesOver) return this.#takeOver();
    if (question) return this.#takeAnswer(conversation, question, { through: seen.others, signal });
    if (open.length > 0) {
      if (isSteered(conversation)) return refuseCalls(this.#options, conversation);
      const signals = { signal, userWrote: this.#userWrote.signal };
      return executeCalls(this.#options, conversation, signals);
    }
    if (waitsForResults(conversation)) return log.changed(signal);
    const doubt = stuckQuestion(conversation);
    if (doubt !== null) return this.#askUser(doubt);
    const end = silentEnd(conversation);
    if (end) return this.#endWork(end);
    return this.#queryModel(conversation, seen, signal);
  }

  #takeOver(): void {
    this.#takesOver = false;
    const { writer } = this.#options;
    writer.append(
      newEvent('agent', 'renewed', {
        args: {},
        message: 'Another agent goes on with the session.',
      }),
    );
  }

  async #queryModel(conversation: Conversation, seen: Seen, signal: AbortSignal): Promise<void> {
    const { log, workspace, offered, hooks, queryModel } = this.#options;
    const known = { through: seen.others, signal };
    const { signal: userWrote } = this.#userWrote;
    try {
      if (!(await deliver(this.#options, conversation.delivered, known))) return;
      if (await this.#compact(conversation, signal)) return;
      const sandbox = conversation.sandbox ?? (await workspace.describe());
      const notice = newNotice(conversation, log.spending);
      const messages = prompt({ ...conversation, sandbox }, notice);
      const operations = listedOperations(conversation, offered).map(({ name }) => name);
      const request = { purpose: 'turn', messages, operations } as const;
      const reply = await queryModel(request, AbortSignal.any([signal, userWrote]));
      // The last call’s commit precedes the reply that knows its result.
      await hooks.settled();
      this.#measure(reply, sentSize(messages));
      this.#appendReply(reply, {
        seen,
        ...(conversation.sandbox === null && { sandbox }),
        ...(notice !== undefined && { notice }),
      });
    } catch (thrown) {
      signal.throwIfAborted();
      // The reply was broken off for a message, which the next request contains.
      if (userWrote.aborted) return;
      await this.#handleFailure(errorFrom(thrown), signal);
    }
  }

  /** Shortens the conversation if the model's window is nearly or already too small; returns whether it did. */
  async #compact(conversation: Conversation, signal: AbortSignal): Promise<boolean> {
    const overflow = this.#overflow;
    if (!overflow && this.#windowShare <= compactAbove) return false;
    const space = { window: this.#window, charactersPerToken: this.#charactersPerToken };
    const isShorter = await compact(this.#options, conversation, { ...space, signal, overflow });
    this.#overflow = false;
    this.#windowShare = 0;
    if (isShorter) return true;
    if (!overflow) return false;
    throw new AppError(
      'model_failed',
      'The conversation no longer fits into the model’s window, and nothing is left to shorten. Rewind to an earlier step or choose a model with a larger window.',
    );
  }

  #measure({ usage, contextTokens }: ModelReply, characters: number): void {
    const { inputTokens, outputTokens } = usage;
    this.#window = contextTokens;
    this.#windowShare = contextTokens ? (inputTokens + outputTokens) / contextTokens : 0;
    if (inputTokens > fewTokens)
      this.#charactersPerToken = Math.min(6, Math.max(2, characters / inputTokens));
  }

  #appendReply(reply: ModelReply, prompted: Prompted): void {
    const { text, reasoning, opaque, finish } = reply;
    const { log, writer } = this.#options;
    const flaw = finish === 'length' ? cut : finish === 'malformed' && unreadable;
    const calls = withFreshIds(reply.calls, (id) => log.has(id));
    const names = calls.map((call) => call.operation).join(', ');
    const args = { text, reasoning, calls, opaque, ...flaw, ...prompted };
    // The log would shorten it, and a shortened call would do something different.
    if (jsonFault(args) !== undefined) {
      const left = { text: '', calls: [], ...unreadable, ...prompted };
      writer.append(newEvent('agent', 'say', { args: left, message: 'Unreadable reply' }));
      return;
    }
    const message = oneLine(text) || (names ? `Calls ${names}` : 'Empty reply');
    writer.append(newEvent('agent', 'say', { args, message }));
  }

  async #handleFailure(error: AppError, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    // The server has logged which limit it was, and that ends the work here too.
    if (error.code === 'limit_reached') {
      while (!log.conversation.ended) await log.changed(signal);
    } else if (error.code === 'cancelled') {
      // The server is shutting down: the query is repeated after its next start.
      await sleep(retryDelayMs, undefined, { signal });
    } else if (error.code === 'context_overflow') {
      this.#overflow = true;
    } else {
      this.#interrupt(error);
    }
  }

  #endWork(end: SilentEnd): void {
    const { writer } = this.#options;
    if ('answer' in end) {
      const { answer: text } = end;
      writer.append(newEvent('agent', 'end', { args: { text }, message: oneLine(text) }));
    } else {
      this.#interrupt(new AppError('model_failed', end.trouble));
    }
  }

  /** The work waits until the user acts. */
  #interrupt(error: AppError): void {
    const { writer } = this.#options;
    writer.append(newEvent('agent', 'error', { args: error.toJSON(), message: error.message }));
  }

  #askUser(question: string): void {
    this.#options.writer.append({
      source: 'agent',
      action: 'ask',
      args: { question, options: [] },
      message: oneLine(question),
      id: `question-${randomUUID()}`,
    });
  }

  async #takeAnswer(
    { waiting }: Conversation,
    { id }: { id: string },
    known: { through: number; signal: AbortSignal },
  ): Promise<void> {
    const { log, writer } = this.#options;
    const message = waiting.find(isAnswer);
    if (!message) return log.changed(known.signal);
    if (!(await deliver(this.#options, [message], known))) return;
    const args = { operation: 'ask', ok: true, output: { answer: message.text }, seconds: 0 };
    writer.append(newEvent('agent', 'result', { args, message: 'The user answered.', id }));
  }
}

/** Whether the user sent a message before the next call of the reply. */
function isSteered({ open: [next], waiting }: Conversation): boolean {
  return next?.begun === false && waiting.some(({ delivery }) => delivery === 'steer');
}

/** Whether the model made no call because earlier calls still run and nothing else is new. */
function waitsForResults(conversation: Conversation): boolean {
  const silent = silentReply(conversation);
  return silent !== null && !silent.cut && conversation.background.length > 0;
}

const cut = { cut: true } as const;
const unreadable = { unreadable: true } as const;

const reserved = [userCallPrefix, hostQuestionPrefix];

/** Some models number the calls of each reply from the start; in the log, an id must be unique. */
function withFreshIds(
  calls: ModelReply['calls'],
  isInLog: (id: string) => boolean,
): ModelReply['calls'] {
  const used = new Set<string>();
  return calls.map((call) => {
    // The server reserves these prefixes for users’ calls and its own questions.
    const own = reserved.some((prefix) => call.id.startsWith(prefix)) ? `call-${call.id}` : call.id;
    let id = own;
    for (let n = 2; used.has(id) || isInLog(id); n++) id = `${own}-${n}`;
    used.add(id);
    return { ...call, id };
  });
}
