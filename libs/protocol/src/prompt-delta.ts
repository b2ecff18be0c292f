import { AppError, errorFrom } from './errors.js';
import type { Message, ModelCall, ModelRequest } from './models.js';

/** The limit of one message of the agent connection, which the sum of all deltas must not exceed either. */
const maxCharacters = 80 * 2 ** 20;

/**
 * The agent’s side of a growing prompt: sends only the messages after those of the previous request. Messages are
 * compared by identity, so a message must not change after it was sent.
 */
export class SentPrompt {
  #number = 0;
  #messages: readonly Message[] = [];

  /** Sends the whole prompt if the server does not have its beginning. Rethrows every other error of `call`. */
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
 * The server’s side: the messages of the last request of one connection. Requests are processed in the order in
 * which they arrive.
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
   * the base is not the previous request, and `too_large`; the next request must then be whole.
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

  /** Releases the messages: the next request must be whole. */
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

/** The system message is created anew for each prompt, but its text rarely changes. */
const isSame = (message: Message, before: Message | undefined): boolean =>
  message === before ||
  (message.role === 'system' && before?.role === 'system' && message.text === before.text);

const unknownBase = () =>
  new AppError(
    'conflict',
    'The request builds on one that the server does not have; send all of its messages.',
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
