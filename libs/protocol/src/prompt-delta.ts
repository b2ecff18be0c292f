import { AppError, errorFrom } from './errors.js';
import type { Message, ModelCall, ModelRequest } from './models.js';

/** As much as one message of the agent connection may hold: deltas do not add up to more. */
const maxCharacters = 80 * 2 ** 20;

/**
 * The agent’s end of a prompt that grows: sends only the messages after those of the request before. Messages are
 * compared by identity, so one that was sent must not change.
 */
export class SentPrompt {
  #number = 0;
  #messages: readonly Message[] = [];

  /** Sends the whole prompt when the server does not have its beginning. Throws what `call` throws otherwise. */
  async send<T>(request: ModelRequest, call: (request: ModelCall) => Promise<T>): Promise<T> {
    try {
      return await call(this.#next(request));
    } catch (thrown) {
      if (!isUnknownBase(thrown)) throw thrown;
      this.#messages = [];
      return await call(this.#next(request));
    }
  }

  #next({ messages, ...request }: ModelRequest): ModelCall {
    const kept = commonStart(this.#messages, messages);
    const number = this.#number + 1;
    const base = kept > 0 ? { number: this.#number, messages: kept } : undefined;
    this.#number = number;
    this.#messages = messages;
    return { ...request, number, ...(base && { base }), messages: messages.slice(kept) };
  }
}

/**
 * The server’s end: the messages of the last request of one connection. Requests are taken in the order in which
 * they arrive.
 */
export class ReceivedPrompt {
  readonly #maxCharacters: number;
  #number: number | null = null;
  #messages: readonly Message[] = [];
  /** The characters of all messages up to each, as JSON. */
  #characters: readonly number[] = [];

  constructor(limit = maxCharacters) {
    this.#maxCharacters = limit;
  }

  /**
   * The request with all of its messages; those of the base are the same objects as before. Throws `conflict` when
   * the base is not the request before, and `too_large`; the next request then has to be whole.
   */
  take({ number, base, messages, ...request }: ModelCall): ModelRequest {
    const kept = this.#keptBy(base);
    const known = this.#messages.slice(0, kept);
    const characters = this.#characters.slice(0, kept);
    this.forget();
    let total = characters.at(-1) ?? 0;
    for (const message of messages) {
      total += JSON.stringify(message).length;
      characters.push(total);
    }
    if (total > this.#maxCharacters) throw tooLarge(this.#maxCharacters);
    const all = [...known, ...messages];
    this.#number = number;
    this.#messages = all;
    this.#characters = characters;
    return { ...request, messages: all };
  }

  /** Releases the messages: the next request has to be whole. */
  forget(): void {
    this.#number = null;
    this.#messages = [];
    this.#characters = [];
  }

  #keptBy(base: ModelCall['base']): number {
    if (!base) return 0;
    if (base.number === this.#number && base.messages <= this.#messages.length)
      return base.messages;
    this.forget();
    throw unknownBase();
  }
}

function commonStart(before: readonly Message[], now: readonly Message[]): number {
  const different = now.findIndex((message, index) => !isSame(message, before[index]));
  return different < 0 ? now.length : different;
}

/** The instructions are written for each prompt anew, and rarely differ. */
const isSame = (message: Message, before: Message | undefined): boolean =>
  message === before ||
  (message.role === 'system' && before?.role === 'system' && message.text === before.text);

const unknownBase = () =>
  new AppError(
    'conflict',
    'The request builds on one that is not here; send all of its messages.',
    {
      base: 'unknown',
    },
  );

function isUnknownBase(thrown: unknown): boolean {
  const { code, details } = errorFrom(thrown);
  return code === 'conflict' && details?.['base'] === 'unknown';
}

const tooLarge = (limit: number) =>
  new AppError(
    'too_large',
    `The prompt exceeds the limit of ${limit / 2 ** 20} MiB; shorten the conversation.`,
  );
