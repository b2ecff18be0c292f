import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AppError,
  newEvent,
  type EventArgs,
  type Handlers,
  type terminalOperations,
} from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { EventWriter } from '../event-writer.js';
import type { MemoryKills } from '../memory-kills.js';
import type { OpenStream } from './outlet.js';
import { exitEvent } from './exit-event.js';
import { terminalEnvironment } from './terminal-environment.js';
import { runInForeground, type ProgramOptions } from './run-in-foreground.js';
import { SpareShell } from './spare-shell.js';
import { TerminalHandlers, type TerminalSet } from './terminal.handlers.js';
import { Terminal } from './terminal.js';

export interface TerminalsOptions {
  /** The initial folder of shells. */
  workspace: string;
  /** A folder for temporary files of the agent, on a Linux file system with FIFOs. */
  state: string;
  env: Record<string, string | undefined>;
  writer: EventWriter;
  openStream: OpenStream;
  memoryKills?: MemoryKills;
  /** The bytes of a terminal that the server has; an agent that takes over a session continues from there. */
  stored?: (terminal: string) => Promise<number>;
}

/** How long after the user’s first key a terminal’s progress is noted; at most one event in this time. */
const typedDelayMs = 2_000;

/** The terminals of one agent. */
export class Terminals implements TerminalSet {
  readonly handlers: Handlers<typeof terminalOperations, CallContext> = new TerminalHandlers(this);
  readonly #options: TerminalsOptions;
  readonly #folder: string;
  #env: Record<string, string>;
  readonly #open = new Map<string, Terminal>();
  readonly #opening = new Map<string, Promise<Terminal>>();
  readonly #closing = new Map<string, Promise<void>>();
  /** The final offsets of closed terminals. */
  readonly #ends = new Map<string, number>();
  /** Timers of terminals that the user types in. */
  readonly #typing = new Map<string, NodeJS.Timeout>();
  /** Called for the user’s keys in terminals of programs. */
  readonly #onKeys = new Map<string, () => void>();
  #spare: SpareShell | undefined;

  constructor(options: TerminalsOptions) {
    this.#options = options;
    this.#folder = join(options.state, 'terminals');
    this.#env = terminalEnvironment(options.env);
    // Remains of a killed agent, whose shells ended with their ptys.
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the first terminal’s shell in advance. */
  prepare(): void {
    const { workspace: cwd } = this.#options;
    this.#spare ??= new SpareShell({ folder: this.#folder, cwd, env: this.#env });
  }

  /** Sets more variables for shells that are started from now on. */
  addToEnvironment(variables: Readonly<Record<string, string>>): void {
    this.#env = { ...this.#env, ...variables };
    void this.#spare?.close();
    this.#spare = undefined;
  }

  async open(name: string): Promise<Terminal> {
    const known = this.#open.get(name);
    if (known) return known;
    const pending =
      this.#opening.get(name) ?? this.#begin(name).finally(() => this.#opening.delete(name));
    this.#opening.set(name, pending);
    return pending;
  }

  find(name: string): Terminal | undefined {
    return this.#open.get(name);
  }

  all(): Terminal[] {
    return [...this.#open.values()];
  }

  /** Running commands, including background ones. */
  running(): { terminal: string; command: string }[] {
    return this.all().flatMap((terminal) => {
      const commands = [terminal.current ?? [], terminal.background.living()].flat();
      return commands.map((command) => ({ terminal: terminal.name, command: command.text }));
    });
  }

  /**
   * Runs a program in a terminal whose input owner is the user: see `runInForeground`. `onKeys` is called for each of their
   * keys.
   */
  async runProgram(
    { name, command }: { name: string; command: string },
    { onKeys, ...options }: Omit<ProgramOptions, 'onStarted'> & { onKeys(): void },
  ): Promise<number | null> {
    const terminal = await this.open(name);
    // The user owns the input since an earlier program.
    this.hold(name, 'agent');
    this.#onKeys.set(name, onKeys);
    try {
      const onStarted = () => this.hold(name, 'user');
      return await runInForeground(terminal, command, { ...options, onStarted });
    } finally {
      this.#onKeys.delete(name);
    }
  }

  /** Types a user's keys. Throws `conflict` unless a user owns the input. */
  keys(name: string, data: string): void {
    const terminal = this.#existing(name);
    if (terminal.holder !== 'user') {
      throw new AppError(
        'conflict',
        `The agent is in control of the terminal ${name}; take it over first.`,
      );
    }
    terminal.type(data);
    this.#onKeys.get(name)?.();
    this.#noteTyping(terminal);
  }

  resize(name: string, columns: number, rows: number): void {
    const terminal = this.#existing(name);
    if (terminal.columns === columns && terminal.rows === rows) return;
    terminal.resize(columns, rows);
    this.#report(terminal, 'resized', `Terminal ${name} is now ${columns} × ${rows}.`);
  }

  /** Keys are not events, but the log has when a terminal showed what they did, so that a replay shows it too. */
  #noteTyping(terminal: Terminal): void {
    const { name } = terminal;
    if (this.#typing.has(name)) return;
    const note = (): void => {
      this.#typing.delete(name);
      this.#report(terminal, 'typed', `The user typed in terminal ${name}.`);
    };
    this.#typing.set(name, setTimeout(note, typedDelayMs).unref());
  }

  /** Sets the input owner. */
  hold(name: string, holder: 'agent' | 'user'): void {
    const terminal = this.#existing(name);
    if (terminal.holder === holder) return;
    terminal.hold(holder);
    const message =
      holder === 'user'
        ? `The user took over terminal ${name}.`
        : `Terminal ${name} was handed back to the agent.`;
    this.#report(terminal, 'held', message);
  }

  async close(terminal: Terminal): Promise<void> {
    const { name } = terminal;
    this.#open.delete(name);
    clearTimeout(this.#typing.get(name));
    this.#typing.delete(name);
    const closed = terminal.close().finally(() => {
      this.#ends.set(name, terminal.output.scrollback.end);
      this.#closing.delete(name);
    });
    this.#closing.set(name, closed);
    await closed;
    this.#report(terminal, 'closed', `Terminal ${name} closed.`);
  }

  /** Ends all shells and everything they started. */
  async closeAll(): Promise<void> {
    await Promise.all([this.#spare?.close(), ...this.all().map((one) => this.close(one))]);
  }

  #existing(name: string): Terminal {
    const terminal = this.#open.get(name);
    if (!terminal) throw new AppError('not_found', `No terminal ${name} is open; open it first.`);
    return terminal;
  }

  async #begin(name: string): Promise<Terminal> {
    await this.#closing.get(name);
    const start = await this.#firstOffset(name);
    const { workspace, openStream, writer, memoryKills } = this.#options;
    const terminal = new Terminal({
      name,
      folder: this.#folder,
      workspace,
      env: this.#env,
      start,
      openStream,
      memoryKills,
      onBackgroundEnd: (owner, command) => {
        const event = exitEvent(owner, command);
        if (event) writer.append(event);
      },
      spare: this.#spare,
    });
    this.#spare = undefined;
    this.#open.set(name, terminal);
    this.#report(terminal, 'opened', `Terminal ${name} opened.`);
    return terminal;
  }

  /** A reused name continues after its old bytes, which may still be in transit. */
  async #firstOffset(name: string): Promise<number> {
    const { stored } = this.#options;
    const end = this.#ends.get(name) ?? 0;
    if (!stored) return end;
    let offset = await stored(name);
    for (let attempt = 0; attempt < 30 && offset < end; attempt += 1) {
      await sleep(100);
      offset = await stored(name);
    }
    return offset;
  }

  #report(
    { name, columns, rows, holder, output }: Terminal,
    change: EventArgs<'terminal'>['change'],
    message: string,
  ): void {
    const to = output.scrollback.end;
    const args = { terminal: name, change, columns, rows, holder, to };
    this.#options.writer.append(newEvent('agent', 'terminal', { args, message }));
  }
}
