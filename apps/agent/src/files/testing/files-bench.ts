import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesOperations, type NewEvent, type OperationOutput } from '@belay/protocol';
import { wholeFile, type KnownFile } from '../../known-file.js';
import { filesHandlers } from '../files.handlers.js';

export type FilesBench = ReturnType<typeof filesBench>;
type Operations = typeof filesOperations;

/**
 * Test environment of the file operations: a folder for each bench, called as the API does, with
 * the events they write.
 */
export function filesBench(rg: string | null = null) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-files-')));
  const events: NewEvent[] = [];
  const pictures: { type: string; size: number }[] = [];
  const handlers = filesHandlers({
    workspace: root,
    writer: { append: (event) => events.push(event) },
    rg,
    putBlob: async (type, { length: size }) => `blob-${pictures.push({ type, size })}`,
  });
  let calls = 0;
  return {
    /** The file versions the model has read, for calls in its name. */
    known: undefined as Map<string, string | KnownFile> | undefined,
    root,
    events,
    pictures,
    source: 'agent' as 'agent' | 'user',
    codes: () => events.filter((event) => event.action === 'code').map((event) => event.args),
    async call<K extends keyof Operations>(
      name: K,
      input: unknown,
      signal: AbortSignal = new AbortController().signal,
    ): Promise<OperationOutput<K>> {
      const definition = filesOperations[name];
      const handler = handlers[name] as (input: unknown, context: unknown) => Promise<unknown>;
      const { source } = this;
      const known = this.known && knownFiles(this.known);
      const context = { id: `call-${++calls}`, source, signal, known };
      const output = await handler(definition.input.parse(input), context);
      return definition.output.parse(output) as OperationOutput<K>;
    },
    random: (seed: number) => new Random(seed),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

const knownFiles = (files: Map<string, string | KnownFile>): Map<string, KnownFile> =>
  new Map(
    [...files].map(([path, file]) => [path, typeof file === 'string' ? wholeFile(file) : file]),
  );

/** A small reproducible generator (mulberry32). */
class Random {
  #state: number;
  constructor(state: number) {
    this.#state = state;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
