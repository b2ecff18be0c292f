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
/** What becomes of a request's body. */
type Rewrite = (body: string) => Uint8Array<ArrayBuffer>;

interface Request {
  provider: SdkProvider;
  messages: readonly Message[];
  blob: GenerateOptions['blob'];
}

/** Messages that follow each other in a prompt, and the elements that they become in the request's list. */
interface Chunk {
  messages: readonly Message[];
  json: Buffer<ArrayBuffer>;
}

/** Most messages of a chunk, and the fewest that are worth one. */
const most = 32;
const fewest = 8;
/** So many of the newest messages are written anew: among them are those that get the marks of `cacheMark`. */
const newest = 12;

/** Takes the place of chunks: begins and ends as they do, so that its neighbours are written as beside them. */
const standIn: readonly Message[] = [
  { role: 'assistant', text: randomUUID(), calls: [] },
  { role: 'user', text: randomUUID(), images: [] },
];

/**
 * A prompt that grows begins as the one before it. Its beginning is not written by the SDK again: a short stand-in
 * takes its place, and on the way out the stand-in's JSON is replaced by the bytes that were sent before. They are the
 * same bytes as without this, because no provider writes a turn differently for what stands before or behind it.
 */
export class PromptWriter {
  /** For the provider: it writes the requests. */
  readonly fetch: Fetch;
  readonly #rewrite = new AsyncLocalStorage<Rewrite>();
  /** By the first message; null when the SDK could not write it alone. */
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

  /** Calls the provider with the messages; `call` may run more than once, of which one reaches the provider. */
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

  /** The messages with stand-ins for what was sent before, and the chunks that each of these stands for. */
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
    // A prompt that is sent once, or anew each time, is not worth it.
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

  /** What the messages become in the request's list; nothing is sent. Null when the SDK refuses them. */
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

/** Where a reply with calls follows a message of the user or results: there, providers do not join messages. */
function beginsTurn(messages: readonly Message[], at: number): boolean {
  const [before, message] = [messages[at - 1], messages[at]];
  if (message?.role !== 'assistant' || message.calls.length === 0) return false;
  return before?.role === 'tool' || before?.role === 'user';
}

/** A plain loop: it goes over every message of every request. */
function isAt(at: number, chunk: Chunk, messages: readonly Message[]): boolean {
  for (let index = 0; index < chunk.messages.length; index++)
    if (chunk.messages[index] !== messages[at + index]) return false;
  return true;
}

/** The farthest end, exclusive, of a chunk that begins here; `at` when there is none. */
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
