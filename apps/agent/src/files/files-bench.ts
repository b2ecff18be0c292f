import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesOperations, type NewEvent, type OperationOutput } from '@belay/protocol';
import { createFiles } from './files.handlers.js';

export type FilesBench = ReturnType<typeof filesBench>;
type Operations = typeof filesOperations;

/** For tests: the operations on a folder of their own, called as a door calls them, with what they write to the log. */
export function filesBench(rg: string | null = null) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-files-')));
  const events: NewEvent[] = [];
  const handlers = createFiles({
    workspace: root,
    journal: { append: (event) => events.push(event) },
    rg,
  });
  let calls = 0;
  return {
    root,
    events,
    codes: () => events.filter((event) => event.action === 'code').map((event) => event.args),
    async call<K extends keyof Operations>(
      name: K,
      input: unknown,
      signal: AbortSignal = new AbortController().signal,
    ): Promise<OperationOutput<Operations[K]>> {
      const definition = filesOperations[name];
      const handler = handlers[name] as (input: unknown, context: unknown) => Promise<unknown>;
      const context = { id: `call-${++calls}`, source: 'agent', signal };
      const output = await handler(definition.input.parse(input), context);
      return definition.output.parse(output) as OperationOutput<Operations[K]>;
    },
    random: (seed: number) => new Random(seed),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** A small repeatable generator (mulberry32). */
class Random {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
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
