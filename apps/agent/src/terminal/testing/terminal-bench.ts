import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalOperations, type NewEvent, type OperationInput } from '@belay/protocol';
import type { z } from 'zod';
import { createTerminals, type Terminals, type TerminalsOptions } from '../terminals.js';
import { MemoryStream } from './memory-stream.js';

type Name = keyof typeof terminalOperations;
type Input<N extends Name> = z.input<(typeof terminalOperations)[N]['input']>;
type Output<N extends Name> = z.output<(typeof terminalOperations)[N]['output']>;

/** Real terminals in temporary folders, with what they print and tell. */
export class TerminalBench {
  readonly printed = new Map<string, Buffer[]>();
  readonly events: NewEvent[] = [];
  #calls = 0;

  private constructor(
    readonly folder: string,
    readonly workspace: string,
    readonly terminals: Terminals,
  ) {}

  static async open(more: Partial<TerminalsOptions> = {}): Promise<TerminalBench> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-terminal-')));
    const printed = new Map<string, Buffer[]>();
    const events: NewEvent[] = [];
    const terminals = createTerminals({
      workspace: folder,
      state: join(folder, '.state'),
      env: { PATH: process.env.PATH, HOME: folder },
      journal: { append: (event) => void events.push(event) },
      openStream: ({ terminal }) =>
        Promise.resolve(
          new MemoryStream((bytes) => {
            printed.set(terminal, [...(printed.get(terminal) ?? []), bytes]);
          }),
        ),
      ...more,
    });
    const bench = new TerminalBench(folder, folder, terminals);
    Object.assign(bench, { printed, events });
    return bench;
  }

  /** Calls an operation as the loop does: parsed input, checked output. */
  async call<N extends Name>(
    name: N,
    input: Input<N>,
    options: { source?: 'agent' | 'user'; signal?: AbortSignal } = {},
  ): Promise<Output<N>> {
    const parsed = terminalOperations[name].input.parse(input) as OperationInput<
      (typeof terminalOperations)[N]
    >;
    const context = {
      id: `call-${++this.#calls}`,
      source: options.source ?? 'agent',
      signal: options.signal ?? new AbortController().signal,
    };
    const handler = this.terminals.handlers[name] as (
      input: unknown,
      context: unknown,
    ) => Promise<unknown>;
    return terminalOperations[name].output.parse(await handler(parsed, context)) as Output<N>;
  }

  run(command: string, more: Partial<Input<'terminal.run'>> = {}): Promise<Output<'terminal.run'>> {
    return this.call('terminal.run', { command, ...more });
  }

  screen(terminal = 'main'): string {
    return Buffer.concat(this.printed.get(terminal) ?? []).toString();
  }

  async close(): Promise<void> {
    await this.terminals.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
