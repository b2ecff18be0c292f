import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalOperations, type NewEvent } from '@belay/protocol';
import type { z } from 'zod';
import type { CallContext } from '../../call-context.js';
import type { ConformanceTarget } from '../conformance/target.js';
import { Terminals, type TerminalsOptions } from '../terminals.js';
import { MemoryStream } from './memory-stream.js';

type Operations = typeof terminalOperations;
type Name = keyof Operations;
type Input<N extends Name> = z.input<Operations[N]['input']>;
type Output<N extends Name> = z.output<Operations[N]['output']>;

export interface BenchOptions extends Partial<TerminalsOptions> {
  /** `sh` hides bash, so that the system’s other shell is used. */
  shell?: 'bash' | 'sh';
}

const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Real terminals in a temporary folder, with their output and events. */
export class TerminalBench {
  readonly printed = new Map<string, Buffer[]>();
  readonly events: NewEvent[] = [];
  readonly terminals: Terminals;
  #calls = 0;

  private constructor(
    readonly folder: string,
    readonly workspace: string,
    path: string,
    more: Partial<TerminalsOptions>,
  ) {
    this.terminals = new Terminals({
      workspace,
      state: join(folder, 'state'),
      env: { PATH: path, HOME: folder },
      writer: { append: (event) => void this.events.push(event) },
      openStream: ({ terminal }) => {
        const chunks: Buffer[] = this.printed.get(terminal) ?? [];
        this.printed.set(terminal, chunks);
        return Promise.resolve(new MemoryStream((bytes) => void chunks.push(bytes)));
      },
      ...more,
    });
  }

  static async open({ shell = 'bash', ...more }: BenchOptions = {}): Promise<TerminalBench> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'belay-terminal-')));
    const workspace = join(folder, 'workspace');
    await mkdir(workspace);
    return new TerminalBench(
      folder,
      workspace,
      shell === 'sh' ? (pathWithoutBash ??= hideBash(usualPath)) : usualPath,
      more,
    );
  }

  /** Calls an operation as the loop does: with its input parsed and its output checked. */
  async call<N extends Name>(
    name: N,
    input: Input<N>,
    options: Partial<Pick<CallContext, 'source' | 'signal' | 'userWrote'>> = {},
  ): Promise<Output<N>> {
    const { input: inputs, output: outputs } = terminalOperations[name];
    const handler = this.terminals.handlers[name] as (...call: unknown[]) => Promise<unknown>;
    const answer = await handler(inputs.parse(input), {
      id: `call-${++this.#calls}`,
      source: options.source ?? 'agent',
      signal: options.signal ?? new AbortController().signal,
      ...(options.userWrote && { userWrote: options.userWrote }),
    });
    return outputs.parse(answer) as Output<N>;
  }

  run(
    command: string,
    more: Omit<Input<'terminal.run'>, 'command'> = {},
  ): Promise<Output<'terminal.run'>> {
    return this.call('terminal.run', { command, ...more });
  }

  /** All output of a terminal so far. */
  screen(terminal = 'main'): string {
    return Buffer.concat(this.printed.get(terminal) ?? []).toString();
  }

  /** The terminals as a target of the conformance cases. */
  get target(): ConformanceTarget {
    return {
      run: (command, more) => this.run(command, more),
      input: (input) => this.call('terminal.input', input),
      read: (input = {}) => this.call('terminal.read', input),
      interrupt: (input = {}) => this.call('terminal.interrupt', input),
      close: (terminal) => this.call('terminal.close', { terminal }),
      list: async () => (await this.call('terminal.list', {})).terminals,
      resize: async (terminal, columns, rows) => this.terminals.resize(terminal, columns, rows),
      writeFile: (path, bytes) => writeFile(join(this.workspace, path), bytes),
      readFile: (path) => readFile(join(this.workspace, path)),
      printed: async (terminal) => Buffer.concat(this.printed.get(terminal) ?? []),
      countEvents: async () => this.events.length,
    };
  }

  async close(): Promise<void> {
    await this.terminals.closeAll();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Shared by all benches of a test file: a thousand links take a second. */
let pathWithoutBash: string | undefined;
afterAll(() => {
  if (pathWithoutBash) rmSync(pathWithoutBash, { recursive: true, force: true });
});

/** A folder for PATH with the same programs except bash. */
function hideBash(path: string): string {
  const programs = mkdtempSync(join(tmpdir(), 'belay-programs-'));
  const taken = new Set(['bash', 'rbash']);
  for (const place of path.split(':').filter((name) => existsSync(name))) {
    for (const name of readdirSync(place)) {
      if (taken.has(name)) continue;
      taken.add(name);
      symlinkSync(join(place, name), join(programs, name));
    }
  }
  return programs;
}
