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
import type { OpenStream } from './outlet.js';
import type { Command } from './command.js';
import { exitEvent } from './exit-event.js';
import { terminalEnvironment } from './terminal-environment.js';
import { SpareShell } from './spare-shell.js';
import { TerminalHandlers, type TerminalSet } from './terminal.handlers.js';
import { Terminal } from './terminal.js';

export interface TerminalsOptions {
  /** Where shells begin. */
  workspace: string;
  /** Folder for what lasts no longer than the agent; a Linux file system that has FIFOs. */
  state: string;
  env: Record<string, string | undefined>;
  writer: EventWriter;
  openStream: OpenStream;
  /** How many bytes of a terminal the server has: an agent that takes over a session continues from there. */
  stored?: (terminal: string) => Promise<number>;
}

export interface Terminals {
  handlers: Handlers<typeof terminalOperations, CallContext>;
  /** Starts the shell of the first terminal beforehand. */
  prepare(): void;
  /** A user's keystrokes. Throws `conflict` unless a user owns the input. */
  keys(terminal: string, data: string): void;
  resize(terminal: string, columns: number, rows: number): void;
  /** Sets the input owner. */
  hold(terminal: string, holder: 'agent' | 'user'): void;
  /** Opens a terminal; one that is open stays as it is. */
  open(terminal: string): Promise<void>;
  /** What runs now, background commands included. */
  running(): { terminal: string; command: string }[];
  /** Ends all shells and what they started. */
  close(): Promise<void>;
}

/** The terminals of one agent. */
export function createTerminals(options: TerminalsOptions): Terminals {
  const folder = join(options.state, 'terminals');
  // What a killed agent left: its shells have gone with their ptys.
  rmSync(folder, { recursive: true, force: true });
  const env = terminalEnvironment(options.env);
  const open = new Map<string, Terminal>();
  const ends = new Map<string, number>();
  const opening = new Map<string, Promise<Terminal>>();
  const closing = new Map<string, Promise<void>>();
  let spare: SpareShell | undefined;

  const appendChange = (
    terminal: Terminal,
    change: EventArgs<'terminal'>['change'],
    message: string,
  ) => {
    const { name, columns, rows, holder } = terminal;
    options.writer.append(
      newEvent('agent', 'terminal', {
        args: { terminal: name, change, columns, rows, holder },
        message,
      }),
    );
  };
  const onBackgroundEnd = (terminal: Terminal, command: Command) => {
    const event = exitEvent(terminal, command);
    if (event) options.writer.append(event);
  };
  // A name that was used before continues behind its old bytes, which may still be in transit.
  const firstOffset = async (name: string): Promise<number> => {
    const end = ends.get(name) ?? 0;
    if (!options.stored) return end;
    let offset = await options.stored(name);
    for (let attempt = 0; attempt < 30 && offset < end; attempt += 1) {
      await sleep(100);
      offset = await options.stored(name);
    }
    return offset;
  };
  const begin = async (name: string): Promise<Terminal> => {
    await closing.get(name);
    const start = await firstOffset(name);
    const { workspace, openStream } = options;
    const places = { name, folder, workspace, env };
    const terminal = new Terminal({ ...places, start, openStream, onBackgroundEnd, spare });
    spare = undefined;
    open.set(name, terminal);
    appendChange(terminal, 'opened', `Terminal ${name} opened.`);
    return terminal;
  };
  const set: TerminalSet = {
    async open(name) {
      const known = open.get(name);
      if (known) return known;
      const pending = opening.get(name) ?? begin(name).finally(() => opening.delete(name));
      opening.set(name, pending);
      return pending;
    },
    find: (name) => open.get(name),
    all: () => [...open.values()],
    async close(terminal) {
      const { name } = terminal;
      open.delete(name);
      const closed = terminal.close().finally(() => {
        ends.set(name, terminal.output.scrollback.end);
        closing.delete(name);
      });
      closing.set(name, closed);
      await closed;
      appendChange(terminal, 'closed', `Terminal ${name} closed.`);
    },
  };
  const existing = (name: string): Terminal => {
    const terminal = open.get(name);
    if (!terminal) throw new AppError('not_found', `No terminal ${name} is open; open it first.`);
    return terminal;
  };

  return {
    handlers: new TerminalHandlers(set),
    prepare() {
      spare ??= new SpareShell({ folder, cwd: options.workspace, env });
    },
    keys(name, data) {
      const terminal = existing(name);
      if (terminal.holder !== 'user') {
        throw new AppError(
          'conflict',
          `The agent is in control of the terminal ${name}; take it over first.`,
        );
      }
      terminal.type(data);
    },
    resize(name, columns, rows) {
      const terminal = existing(name);
      if (terminal.columns === columns && terminal.rows === rows) return;
      terminal.resize(columns, rows);
      appendChange(terminal, 'resized', `Terminal ${name} is now ${columns} × ${rows}.`);
    },
    hold(name, holder) {
      const terminal = existing(name);
      if (terminal.holder === holder) return;
      terminal.hold(holder);
      const message =
        holder === 'user'
          ? `The user took over terminal ${name}.`
          : `Terminal ${name} was handed back to the agent.`;
      appendChange(terminal, 'held', message);
    },
    async open(name) {
      await set.open(name);
    },
    running: () =>
      set.all().flatMap((terminal) => {
        const commands = [terminal.current ?? [], terminal.background.living()].flat();
        return commands.map((command) => ({ terminal: terminal.name, command: command.text }));
      }),
    async close() {
      await Promise.all([spare?.close(), ...set.all().map((terminal) => set.close(terminal))]);
    },
  };
}
