import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, errorFrom, fact, isFact, type Event, type ModelReply } from '@belay/protocol';
import { compact } from './compaction.js';
import { conversation, type Conversation } from './conversation.js';
import { guide } from './guide.js';
import type { LoopOptions } from './loop-options.js';
import { prompt } from './prompt.js';
import { runCalls } from './run-calls.js';
import { stuckQuestion } from './stuck.js';
import { oneLine } from './subject.js';

/** Above this share of the model's window the conversation is shortened before the next call. */
const crowded = 0.8;

type Seen = LoopOptions['log']['seen'];

/**
 * The agent's loop. It has no state of its own worth keeping: each step folds the log into a conversation, does the
 * one thing that comes next, and writes down what came of it. A restart is therefore a step like any other.
 */
export class Loop {
  #step = new AbortController();
  /** The share of the model's window that the last prompt and its reply took. */
  #fill = 0;
  #overflow = false;

  constructor(private readonly options: LoopOptions) {}

  /** Runs until `signal` aborts, through any number of ends and new beginnings of the work. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.#step.abort(signal.reason);
    signal.addEventListener('abort', stop);
    try {
      await guide(this.options, conversation(this.options.log.events), []);
      while (!signal.aborted) {
        this.#step = new AbortController();
        await this.#next(this.#step.signal).catch((error: unknown) => {
          if (!this.#step.signal.aborted) throw error;
        });
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Breaks off what is under way when one of these events says so; they are in the log already. */
  heard(events: readonly Event[]): void {
    for (const { action, args, message } of events) {
      if (action === 'stop') this.#breakOff('cancelled', 'The person stopped the agent.');
      if (action === 'limit') this.#breakOff('limit_reached', message);
      if (action === 'rewind' && args['what'] !== 'files') {
        this.#breakOff('cancelled', 'The person rewound the conversation.');
      }
    }
  }

  #breakOff(code: 'cancelled' | 'limit_reached', sentence: string): void {
    this.#step.abort(new AppError(code, sentence));
  }

  async #next(signal: AbortSignal): Promise<void> {
    const { log, journal } = this.options;
    await journal.flush();
    const { seen } = log;
    const now = conversation(log.events);
    if (!now.settings || now.ended || now.paused) return log.changed(signal);
    if (now.question) return this.#takeAnswer(now, now.question, signal);
    if (now.open.length > 0) return runCalls(this.options, now, signal);
    const question = stuckQuestion(now) ?? unfinished(now);
    if (question !== null) return this.#ask(question);
    return this.#reply(now, seen, signal);
  }

  async #reply(now: Conversation, seen: Seen, signal: AbortSignal): Promise<void> {
    try {
      if (await this.#makeRoom(now, signal)) return;
      const sandbox = now.sandbox ?? (await this.options.describeSandbox());
      const messages = prompt({ ...now, sandbox });
      const operations = this.options.offered.map(({ name }) => name);
      const request = { purpose: 'turn', messages, operations } as const;
      const reply = await this.options.generate(request, signal);
      // The commit of the last call comes before the reply that knows its result.
      await this.options.recorded();
      this.#say(reply, { seen, ...(now.sandbox === null && { sandbox }) });
    } catch (thrown) {
      signal.throwIfAborted();
      await this.#failed(errorFrom(thrown), signal);
    }
  }

  /** Shortens the conversation when the model's window is nearly or already too small; answers whether it did. */
  async #makeRoom(now: Conversation, signal: AbortSignal): Promise<boolean> {
    const overflow = this.#overflow;
    if (!overflow && this.#fill <= crowded) return false;
    this.#overflow = false;
    this.#fill = 0;
    if (await compact(this.options, now, { signal, overflow })) return true;
    if (!overflow) return false;
    throw new AppError(
      'model_failed',
      'The conversation no longer fits into the model’s window, and nothing is left to shorten. Rewind to an earlier step or choose a model with a larger window.',
    );
  }

  #say(reply: ModelReply, prompted: { seen: Seen; sandbox?: string }): void {
    const { text, reasoning, opaque, finish, usage, contextTokens } = reply;
    const cut = finish === 'length' && ({ cut: true } as const);
    const calls = withFreshIds(reply.calls, this.options.log.events);
    this.#fill = contextTokens ? (usage.inputTokens + usage.outputTokens) / contextTokens : 0;
    const names = calls.map((call) => call.operation).join(', ');
    this.options.journal.append(
      fact('agent', 'say', {
        args: { text, reasoning, calls, opaque, ...cut, ...prompted },
        message: oneLine(text) || (names ? `Calls ${names}` : 'Says nothing'),
      }),
    );
  }

  async #failed(error: AppError, signal: AbortSignal): Promise<void> {
    const { journal } = this.options;
    // The server has written which limit it was, and that ends the work here too.
    if (error.code === 'limit_reached') return this.#untilEnded(signal);
    // Not cancelled from here: the server goes down, and the call is made again at its next start.
    if (error.code === 'cancelled') return sleep(1_000, undefined, { signal });
    if (error.code === 'context_overflow') {
      this.#overflow = true;
      return;
    }
    journal.append(fact('agent', 'error', { args: error.toJSON(), message: error.message }));
  }

  async #untilEnded(signal: AbortSignal): Promise<void> {
    while (!conversation(this.options.log.events).ended) await this.options.log.changed(signal);
  }

  #ask(question: string): void {
    this.options.journal.append({
      source: 'agent',
      action: 'ask',
      args: { question, options: [] },
      message: oneLine(question),
      id: `question-${randomUUID()}`,
    });
  }

  async #takeAnswer(
    { waiting: [message] }: Conversation,
    { id }: { id: string },
    signal: AbortSignal,
  ): Promise<void> {
    if (!message) return this.options.log.changed(signal);
    this.options.journal.append(
      fact('agent', 'result', {
        args: { operation: 'ask', ok: true, output: { answer: message.text }, seconds: 0 },
        message: 'The person answered.',
        id,
      }),
    );
  }
}

/** What to ask when the model called nothing, was nudged, and again called nothing: what it said last. */
function unfinished({ items }: Conversation): string | null {
  const last = items.at(-1);
  if (last?.kind !== 'turn' || last.turn.say.calls.length > 0) return null;
  if (items.at(-2)?.kind !== 'nudge') return null;
  return last.turn.say.text || 'The agent stopped without a word. How should it go on?';
}

/** Some models number the calls of each reply anew; in the log an id names one call. */
function withFreshIds(calls: ModelReply['calls'], events: readonly Event[]): ModelReply['calls'] {
  const said = events.flatMap((event) => (isFact(event, 'say') ? event.args.calls : []));
  const used = new Set([...events, ...said].map(({ id }) => id));
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; used.has(id); n++) id = `${call.id}-${n}`;
    used.add(id);
    return { ...call, id };
  });
}
