import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { ignoreError, type Message } from '@belay/protocol';
import { z } from 'zod';
import type { GenerateOptions } from '../model.js';
import { hasPictures, toPlainPrompt, toPrompt } from './prompt.js';
import type { SdkProvider } from './sdk-provider.js';

type Fetch = typeof globalThis.fetch;
type Call<T> = (prompt: LanguageModelV4Prompt) => PromiseLike<T>;
/** Changes the body of a request. */
type Rewrite = (body: string) => Uint8Array<ArrayBuffer>;

interface Request {
  provider: SdkProvider;
  messages: readonly Message[];
  blob: GenerateOptions['blob'];
}

/** Consecutive messages of a prompt, and their elements in the request's list. */
interface Chunk {
  messages: readonly Message[];
  json: Buffer<ArrayBuffer>;
}

/** The maximum number of messages in a chunk, and the minimum that saves time. */
const most = 32;
const fewest = 8;
/** This many of the newest messages are always written again; they include those with `cacheMark`. */
const newest = 12;

/** Replaces chunks. It begins and ends like a chunk, so that neighboring messages are written the same way. */
const standIn: readonly Message[] = [
  { role: 'assistant', text: randomUUID(), calls: [] },
  { role: 'user', text: randomUUID(), images: [] },
];

/**
 * Speeds up growing prompts, which begin like the previous one. The SDK does not write that beginning again: a short
 * stand-in replaces it, and in the outgoing request the stand-in's JSON is replaced by the bytes sent before. The
 * result is the same, because every provider writes a turn independently of its neighbors.
 */
export class PromptWriter {
  /** The `fetch` of the provider, which carries out the replacement. */
  readonly fetch: Fetch;
  readonly #rewrite = new AsyncLocalStorage<Rewrite>();
  /** By the first message; null if the SDK could not write the chunk alone. */
  readonly #chunks = new WeakMap<Message, Chunk | null>();
  readonly #seen = new WeakSet<Message>();
  #standIn: Buffer | undefined;

  constructor(outgoing: Fetch) {
    this.fetch = (input, init) => {
      const rewrite = this.#rewrite.getStore();
      if (!rewrite || typeof init?.body !== 'string') return outgoing(input, init);
      return outgoing(input, { ...init, body: rewrite(init.body) });
    };
  }

  /** Calls the provider with the messages. `call` may run several times, but only one run reaches the provider. */
  async send<T>(request: Request, call: Call<T>): Promise<T> {
    const { provider, blob } = request;
    const { messages, runs } = await this.#shortened(request, call);
    const prompt = await toPrompt(messages, provider, blob);
    if (runs.length === 0) return call(prompt);
    let fits = true;
    const whole: Rewrite = (body) => {
      const pieces = body.split(String(this.#standIn));
      fits = pieces.length === runs.length + 1;
      if (!fits) throw new Error('The stand-ins are not in the request as they were written.');
      return joined(pieces, runs);
    };
    try {
      return await this.#rewrite.run(whole, () => call(prompt));
    } catch (error) {
      if (fits) throw error;
      return call(await toPrompt(request.messages, provider, blob));
    }
  }

  /** The messages with stand-ins for what was sent before, and the chunks that each stand-in replaces. */
  async #shortened(request: Request, call: Call<unknown>) {
    const { messages: all } = request;
    const messages: Message[] = [];
    const runs: Chunk[][] = [];
    let run: Chunk[] | undefined;
    for (let at = 0; at < all.length;) {
      const chunk = await this.#chunkAt(at, request, call);
      if (chunk) {
        if (!run) {
          messages.push(...standIn);
          runs.push((run = []));
        }
        run.push(chunk);
        at += chunk.messages.length;
      } else {
        run = undefined;
        messages.push(...all.slice(at, ++at));
      }
    }
    for (const message of messages) this.#seen.add(message);
    return { messages, runs };
  }

  async #chunkAt(at: number, request: Request, call: Call<unknown>): Promise<Chunk | undefined> {
    const { messages } = request;
    const first = messages[at];
    if (!first || !beginsTurn(messages, at)) return undefined;
    const known = this.#chunks.get(first);
    if (known && isAt(at, known, messages)) {
      return at + known.messages.length <= messages.length - newest ? known : undefined;
    }
    if (known === null) return undefined;
    const end = endOfChunk(messages, at);
    const last = messages[end - 1];
    // Not worth it for a prompt that is sent once, or that changes each time.
    if (end === at || !last || !this.#seen.has(last)) return undefined;
    const chunk = await this.#written(messages.slice(at, end), request, call);
    this.#chunks.set(first, chunk);
    return chunk ?? undefined;
  }

  async #written(
    messages: readonly Message[],
    request: Request,
    call: Call<unknown>,
  ): Promise<Chunk | null> {
    this.#standIn ??= (await this.#elements(standIn, request, call)) ?? undefined;
    const json = this.#standIn && (await this.#elements(messages, request, call));
    return json ? { messages, json } : null;
  }

  /** The messages' elements in the request's list; nothing is sent. Null when the SDK refuses the messages. */
  async #elements(
    messages: readonly Message[],
    { provider, blob }: Request,
    call: Call<unknown>,
  ): Promise<Buffer<ArrayBuffer> | null> {
    const prompt = await toPlainPrompt(messages, provider, blob);
    let written: string | undefined;
    const stop: Rewrite = (body) => {
      written = body;
      throw new Error('Nothing is sent.');
    };
    await this.#rewrite
      .run(stop, async () => call(prompt))
      .catch(ignoreError('it is stopped before it is sent'));
    if (written === undefined) return null;
    const list = z.array(z.unknown()).parse(bodyOf(written)[provider.listOfMessages]);
    return Buffer.from(JSON.stringify(list).slice(1, -1));
  }
}

const bodyOf = (json: string) => z.record(z.string(), z.unknown()).parse(JSON.parse(json));

/** Whether a reply with calls follows a user's message or results: providers do not merge messages there. */
function beginsTurn(messages: readonly Message[], at: number): boolean {
  const [before, message] = [messages[at - 1], messages[at]];
  if (message?.role !== 'assistant' || message.calls.length === 0) return false;
  return before?.role === 'tool' || before?.role === 'user';
}

/** A plain loop for speed, because it runs over every message of every request. */
function isAt(at: number, chunk: Chunk, messages: readonly Message[]): boolean {
  for (let index = 0; index < chunk.messages.length; index++)
    if (chunk.messages[index] !== messages[at + index]) return false;
  return true;
}

/** The farthest end, exclusive, of a chunk that begins here; `at` if there is none. */
function endOfChunk(messages: readonly Message[], at: number): number {
  let found = at;
  const limit = Math.min(at + most, messages.length - newest);
  for (let end = at; end < limit;) {
    const message = messages[end];
    if (!message || hasPictures(message)) break;
    if (beginsTurn(messages, ++end) && end - at >= fewest) found = end;
  }
  return found;
}

function joined(pieces: readonly string[], runs: readonly Chunk[][]): Uint8Array<ArrayBuffer> {
  const comma = Buffer.from(',');
  const bytes = pieces.flatMap((piece, index) => {
    const run = runs[index] ?? [];
    const chunks = run.flatMap(({ json }, nth) => (nth === 0 ? [json] : [comma, json]));
    return [Buffer.from(piece), ...chunks];
  });
  return Buffer.concat(bytes);
}
