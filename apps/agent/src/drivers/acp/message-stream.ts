import { once } from 'node:events';
import { ReadableStream, WritableStream } from 'node:stream/web';
import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { messagesInLines, type SkippedLines } from '../messages-in-lines.js';

export interface MessageStreamOptions extends SkippedLines {
  /** Called with each message before it is passed on. */
  onMessage(message: { method?: unknown }): void;
  /** Resolves when what the program has said so far is dealt with; no more is read before. Never rejects. */
  taken(): Promise<void>;
}

/** How much is read before what came of it must be dealt with, in bytes. */
const windowBytes = 2 ** 18;
/** The requests of a program that may be without an answer; it is not read further before one has its answer. */
const mostOpen = 32;
const maxNameLength = 300;

/**
 * Messages as lines of JSON. The SDK’s own stream answers each line that is none with an error, but programs print
 * other lines, too. A program may also send more than can be stored, requests without end, and messages that are none:
 * it then waits in its pipe, and the SDK, which would print them, does not get the latter.
 */
export function messageStream(
  { input, output }: { input: Writable; output: Readable },
  options: MessageStreamOptions,
): Stream {
  const open = new OpenRequests();
  const asked = new Set<unknown>();
  async function* messages() {
    for await (const message of messagesInLines(paced(output, options), options)) {
      const known = knownMessage(message);
      if (!known) options.onFault('is not one of ACP');
      else if (known.kind === 'request' && open.has(known.id))
        options.onFault('has the id of another one');
      else if (known.kind === 'answer' && !asked.delete(known.id))
        options.onFault('answers nothing that was asked');
      else {
        if (known.kind === 'request') open.add(known.id);
        options.onMessage(message);
        yield message as AnyMessage;
        await open.whenFew();
      }
    }
  }
  return {
    readable: ReadableStream.from(messages()) as Stream['readable'],
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        if (input.destroyed) throw new Error('The program has ended.');
        if ('method' in message && 'id' in message) asked.add(message.id);
        if (!input.write(`${JSON.stringify(message)}\n`))
          await Promise.race([once(input, 'drain'), once(input, 'close')]);
        if (!('method' in message)) open.delete(message.id);
      },
    }) as Stream['writable'],
  };
}

/** Stops reading while too much of what was read is to be dealt with, so that the rest waits in the program’s pipe. */
async function* paced(printed: Readable, { taken }: MessageStreamOptions) {
  let read = 0;
  for await (const chunk of printed as AsyncIterable<Buffer>) {
    yield chunk;
    read += chunk.length;
    if (read < windowBytes) continue;
    read = 0;
    await taken();
  }
}

interface KnownMessage {
  kind: 'request' | 'notification' | 'answer';
  /** Undefined for a notification. */
  id?: unknown;
}

/** Undefined for what is not a message of JSON-RPC, or has too long a name or id. */
function knownMessage(message: object): KnownMessage | undefined {
  const { id, method, jsonrpc } = message as Record<string, unknown>;
  const isId = Number.isFinite(id) || (typeof id === 'string' && id.length <= maxNameLength);
  // The SDK tells who asked what is wrong with an answer.
  if (!('method' in message)) return isId ? { kind: 'answer', id } : undefined;
  if (jsonrpc !== '2.0') return undefined;
  if (typeof method !== 'string' || method.length > maxNameLength) return undefined;
  if (!('id' in message)) return { kind: 'notification' };
  return isId ? { kind: 'request', id } : undefined;
}

/** The requests of a program that have no answer yet. */
class OpenRequests {
  readonly #ids = new Set<unknown>();
  #fewer = Promise.withResolvers<void>();

  has(id: unknown): boolean {
    return this.#ids.has(id);
  }

  add(id: unknown): void {
    this.#ids.add(id);
  }

  delete(id: unknown): void {
    this.#ids.delete(id);
    this.#fewer.resolve();
    this.#fewer = Promise.withResolvers();
  }

  async whenFew(): Promise<void> {
    while (this.#ids.size >= mostOpen) await this.#fewer.promise;
  }
}
