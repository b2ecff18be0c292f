import {
  AppError,
  excerpt,
  type Handlers,
  type OperationInput,
  type terminalOperations,
} from '@belay/protocol';
import type { z } from 'zod';
import type { CallContext } from '../call-context.js';
import type { ShellCommand } from './shell-command.js';
import { keySequence } from './key-sequences.js';
import { listeners } from './listeners.js';
import { signalAll } from './process-tree.js';
import { assertAgentTypes, busy } from './terminal-faults.js';
import { mostShown } from './terminal-output.js';
import type { Terminal } from './terminal.js';
import { waitFor, waitSignal, type Happened } from './wait-for.js';

type Operations = typeof terminalOperations;
type RunResult = z.input<Operations['terminal.run']['output']>;
type RunInput = OperationInput<'terminal.run'>;

/** How long an interrupted command may take to end before the call returns. */
const interruptTimeoutMs = 2_000;
/** How long a new shell may take to accept a command. */
const openingTimeoutMs = 20_000;
/** A program without output for this long counts as waiting for input. */
const settledDelayMs = 150;
/** How far back the start of a full-screen program is searched. */
const screenReachBytes = 1024 * 1024;

/** A background command that ends within this time is reported as ended, because it was not a server that started. */
const deathDelayMs = 300;
/** The maximum length of a command in a list. */
const commandLimit = 200;

const alwaysThere = 'main';

/** The open terminals by name. */
export interface TerminalSet {
  /** Opens it if it does not exist. */
  open(name: string): Promise<Terminal>;
  find(name: string): Terminal | undefined;
  all(): Terminal[];
  close(terminal: Terminal): Promise<void>;
}

/** The terminal operations of one agent. */
export class TerminalHandlers implements Handlers<Operations, CallContext> {
  readonly #terminals: TerminalSet;
  /** The offset up to which each terminal was returned; the model has not seen what only the user read. */
  readonly #readTo = {
    agent: new WeakMap<Terminal, number>(),
    user: new WeakMap<Terminal, number>(),
  };
  /** Waiting `run` calls of each terminal, in order. */
  readonly #queues = new WeakMap<Terminal, symbol[]>();

  constructor(terminals: TerminalSet) {
    this.#terminals = terminals;
  }

  'terminal.run' = async (input: RunInput, context: CallContext): Promise<RunResult> => {
    const terminal = await this.#terminals.open(input.terminal);
    const { background, timeout, until } = input;
    const ms = input.wait * 1000;
    const stdin =
      input.stdin === undefined ? undefined : Buffer.from(input.stdin, input.stdinEncoding);
    let before: ReadonlySet<string> | undefined;
    const command = await this.#startWhenFree(terminal, {
      ms,
      context,
      start: () => {
        before = until?.port === undefined ? undefined : listeners(until.port);
        return terminal.start(input.command, { background, stdin, timeout });
      },
    });
    let happened: Happened | undefined;
    try {
      if (background)
        await terminal.changes.until(() => begun(terminal, command), ms, waitSignal(context));
      const wait = { until, command, from: command.from, before, context };
      const atOnce = background && until === undefined;
      happened = await waitFor(terminal, { ...wait, ms: atOnce ? Math.min(ms, deathDelayMs) : ms });
      if (context.signal.aborted && !begun(terminal, command)) await interrupt(terminal, command);
    } finally {
      command.watchers -= 1;
      terminal.changes.notify();
    }
    return {
      ...this.#result(terminal, context, { command, from: command.from }),
      ...endOfWait(happened, until),
    };
  };

  'terminal.input' = async (
    input: OperationInput<'terminal.input'>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    assertAgentTypes(terminal);
    const command = terminal.current;
    if (!command && !terminal.runsUserProgram) {
      throw new AppError(
        'conflict',
        `Nothing is running in the terminal ${terminal.name} to take the input; start a program with terminal.run first.`,
      );
    }
    const from = terminal.output.scrollback.end;
    const typed = Date.now();
    terminal.type(input.text.replace(/\r?\n/g, '\r') + input.keys.map(keySequence).join(''));
    const settled = () =>
      command?.settled ||
      (terminal.output.scrollback.end > from &&
        Date.now() - terminal.output.lastTime >= settledDelayMs);
    const signal = waitSignal(context);
    while (!settled() && Date.now() - typed < input.wait * 1000 && !signal.aborted) {
      const left = typed + input.wait * 1000 - Date.now();
      await terminal.changes.until(settled, Math.min(settledDelayMs / 3, left), signal);
    }
    return this.#result(terminal, context, { command, from });
  };

  'terminal.read' = async (
    input: OperationInput<'terminal.read'>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    const { until } = input;
    const command = terminal.current ?? terminal.background.newestRunning;
    const latest = subject(terminal);
    let happened: Happened | undefined;
    if (command || until) {
      // A read by the user does not inform the model of an end.
      const watches = command && (!command.background || context.source === 'agent') ? 1 : 0;
      if (command) command.watchers += watches;
      const from = input.from ?? this.#readTo[context.source].get(terminal) ?? 0;
      // An earlier command’s end is irrelevant for the wait, unless a server died.
      const awaited = latest?.background ? latest : command;
      const ms = input.wait * 1000;
      happened = await waitFor(terminal, { until, command: awaited, from, ms, context });
      if (command) command.watchers -= watches;
      terminal.changes.notify();
    }
    const end = endOfWait(happened, until);
    if (input.from === undefined) {
      const result = this.#result(terminal, context, { command: latest, limit: input.limit });
      return { ...result, ...named(latest), ...end };
    }
    const page = terminal.output.text({
      from: input.from,
      to: Math.max(input.from, Math.min(input.from + input.limit, terminal.output.scrollback.end)),
      limit: input.limit,
      rows: terminal.rows,
    });
    return { ...state(terminal, command), ...named(latest), ...page, ...end };
  };

  'terminal.interrupt' = async (
    input: OperationInput<'terminal.interrupt'>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    if (context.source === 'agent') assertAgentTypes(terminal);
    const ofUser = terminal.runsUserProgram;
    const living = terminal.current ? [terminal.current] : terminal.background.living();
    const command = ofUser ? undefined : (living.findLast(({ ended }) => !ended) ?? living.at(-1));
    if (ofUser) {
      terminal.type('\x03');
    } else if (command) {
      // The model is not told again what the result reports.
      const watches = context.source === 'agent' ? 1 : 0;
      command.watchers += watches;
      const stop = (each: ShellCommand) =>
        input.kill ? terminal.kill(each, 'kill') : pressInterrupt(terminal, each);
      await Promise.all(living.map(stop)).finally(() => (command.watchers -= watches));
    } else {
      throw new AppError(
        'conflict',
        `Nothing is running in the terminal ${terminal.name}, so nothing was interrupted; terminal.list shows what runs where.`,
      );
    }
    return { ...this.#result(terminal, context, { command }), ...named(command) };
  };

  'terminal.close' = async (input: OperationInput<'terminal.close'>) => {
    const terminal = this.#terminals.find(input.terminal);
    if (terminal) await this.#terminals.close(terminal);
    return { closed: terminal !== undefined };
  };

  'terminal.list' = () =>
    Promise.resolve({
      terminals: this.#terminals.all().map((terminal) => {
        const command = terminal.current ?? terminal.background.living().at(-1);
        return {
          terminal: terminal.name,
          running:
            command?.text ?? (terminal.runsUserProgram ? 'a program that the user started' : null),
          seconds: command?.seconds ?? null,
          directory: terminal.currentDirectory,
          background: terminal.background.recent().map((each) => ({
            command: nameOf(each),
            ...stateOf(each),
          })),
          holder: terminal.holder,
          size: terminal.output.scrollback.end,
          columns: terminal.columns,
          rows: terminal.rows,
        };
      }),
    });

  /**
   * Waits until the terminal can take a command and this call is first in its queue; a call that need not wait gets an
   * error.
   */
  async #startWhenFree(
    terminal: Terminal,
    options: { ms: number; context: CallContext; start: () => ShellCommand },
  ): Promise<ShellCommand> {
    const signal = waitSignal(options.context);
    const queue = this.#queues.get(terminal) ?? [];
    this.#queues.set(terminal, queue);
    const ticket = Symbol('ticket');
    queue.push(ticket);
    const first = () => queue[0] === ticket;
    const impossible = () =>
      terminal.closed ||
      terminal.broken ||
      terminal.holder === 'user' ||
      (first() && terminal.current?.watchers === 0);
    const ready = () => first() && terminal.free;
    try {
      await terminal.changes.until(() => impossible() || ready(), options.ms, signal);
      // A new shell takes longer on a busy machine, which is no reason to refuse the command.
      const opening = () => first() && !terminal.current && !terminal.runsUserProgram;
      const settled = () => impossible() || ready() || !opening();
      await terminal.changes.until(settled, openingTimeoutMs, signal);
      if (options.context.userWrote?.aborted) {
        throw new AppError(
          'cancelled',
          `Not run: the user wrote before the terminal ${terminal.name} was free.`,
        );
      }
      if (signal.aborted) {
        throw new AppError('cancelled', 'The call was cancelled before the command began.');
      }
      if (ready()) return options.start();
      assertAgentTypes(terminal);
      throw busy(terminal);
    } finally {
      queue.splice(queue.indexOf(ticket), 1);
      terminal.changes.notify();
    }
  }

  async #existing(name: string): Promise<Terminal> {
    const terminal = this.#terminals.find(name);
    if (terminal) return terminal;
    if (name === alwaysThere) return this.#terminals.open(name);
    throw new AppError(
      'not_found',
      `No terminal ${name} is open; terminal.run opens one, terminal.list shows them.`,
    );
  }

  #result(
    terminal: Terminal,
    { source }: Pick<CallContext, 'source'>,
    about: { command: ShellCommand | undefined; from?: number; limit?: number },
  ): RunResult {
    const command = about.command ?? subject(terminal);
    const to = command?.ended && about.from !== undefined ? command.ended.to : terminal.output.end;
    const readTo = this.#readTo[source];
    const from = screenStart(terminal, command) ?? about.from ?? readTo.get(terminal) ?? 0;
    const limit = about.limit ?? mostShown;
    const text = terminal.output.text({ from, to, limit, rows: terminal.rows });
    readTo.set(terminal, terminal.output.past(text.to));
    const file = text.omittedBytes > 0 ? terminal.output.fileFrom(from) : null;
    return { ...state(terminal, about.command), ...text, ...(file && { file }) };
  }
}

/** Whether a command has ended, or its terminal is free although it runs. */
const begun = (terminal: Terminal, command: ShellCommand): boolean =>
  terminal.closed || command.settled || (command.background && terminal.current !== command);

/** What ended a wait, if the result would not show it. */
const endOfWait = (happened: Happened | undefined, until: unknown): Pick<RunResult, 'happened'> =>
  happened && (until || happened === 'message') ? { happened } : {};

const nameOf = ({ text }: ShellCommand): string => excerpt(text, commandLimit);

const named = (command: ShellCommand | undefined): { command: string } | undefined =>
  command && { command: nameOf(command) };

/** The command that a call means if it names none. */
const subject = (terminal: Terminal): ShellCommand | undefined =>
  terminal.current ?? terminal.background.newestRunning ?? terminal.latest;

function state(terminal: Terminal, given: ShellCommand | undefined) {
  const command = given ?? subject(terminal);
  const idle = { status: terminal.runsUserProgram ? 'running' : 'exited', exitCode: null } as const;
  return {
    terminal: terminal.name,
    ...(command ? stateOf(command) : { ...idle, seconds: 0 }),
    directory: terminal.currentDirectory,
  };
}

function stateOf({ ended, killed, background, seconds }: ShellCommand) {
  const running = background ? 'background' : 'running';
  const { status = running, exitCode = null } = ended ?? {};
  return { status, exitCode, seconds, ...(killed !== undefined && { killed }) } as const;
}

/** A full-screen program sends only changes, so its screen must be rendered from its start. */
function screenStart(terminal: Terminal, command: ShellCommand | undefined): number | undefined {
  if (!command || command.ended) return undefined;
  const end = terminal.output.scrollback.end;
  const from = Math.max(command.from, terminal.output.scrollback.start, end - screenReachBytes);
  const bytes = terminal.output.scrollback.slice(from, end);
  const enter = bytes.lastIndexOf('\x1b[?1049h');
  return enter > bytes.lastIndexOf('\x1b[?1049l') ? from + enter : undefined;
}

async function interrupt(terminal: Terminal, command: ShellCommand): Promise<void> {
  await pressInterrupt(terminal, command);
  if (!command.ended) await terminal.kill(command, 'kill');
}

async function pressInterrupt(terminal: Terminal, command: ShellCommand): Promise<void> {
  command.cause ??= 'interrupt';
  if (terminal.current === command) terminal.type('\x03');
  else signalAll(terminal.processes(command), 'SIGINT');
  await terminal.changes.until(() => command.ended !== undefined, interruptTimeoutMs);
  // The command handled the key and continues, so a later end is not an interruption.
  if (!command.ended && command.cause === 'interrupt') command.cause = undefined;
}
