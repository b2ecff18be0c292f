import {
  AppError,
  type Handlers,
  type OperationInput,
  type terminalOperations,
} from '@belay/protocol';
import type { z } from 'zod';
import type { CallContext } from '../call-context.js';
import type { Command } from './command.js';
import { keySequences } from './keys.js';
import { outputText } from './plain-text.js';
import type { Terminal } from './terminal.js';

type Operations = typeof terminalOperations;
type RunResult = z.input<Operations['terminal.run']['output']>;
type RunInput = OperationInput<Operations['terminal.run']>;

/** Bytes of text in an answer. */
const textLimit = 16_000;
/** How long an interrupted command may take to end before the answer, in ms. */
const interruptPatience = 2_000;
/** How long a new shell may take until it can be given a command, in ms. */
const openingPatience = 20_000;
/** A program is quiet when it printed nothing for so long, in ms. */
const quiet = 150;
/** How far back the beginning of a full-screen program is looked for, in bytes. */
const screenReach = 1024 * 1024;

const alwaysThere = 'main';

/** The open terminals by name. */
export interface TerminalSet {
  /** Opens it when it is new. */
  open(name: string): Promise<Terminal>;
  find(name: string): Terminal | undefined;
  all(): Terminal[];
  close(terminal: Terminal): Promise<void>;
}

/** The operations of terminals, over the terminals of one agent. */
export class TerminalHandlers implements Handlers<Operations, CallContext> {
  /** Where each terminal was last answered to. */
  readonly #answered = new WeakMap<Terminal, number>();
  /** Calls of `run` that wait for a terminal, in order. */
  readonly #queues = new WeakMap<Terminal, symbol[]>();

  constructor(private readonly terminals: TerminalSet) {}

  'terminal.run' = async (input: RunInput, context: CallContext): Promise<RunResult> => {
    const terminal = await this.terminals.open(input.terminal);
    const { background, timeout } = input;
    const stdin =
      input.stdin === undefined ? undefined : Buffer.from(input.stdin, input.stdinEncoding);
    const command = await this.#turn(terminal, {
      ms: input.wait * 1000,
      signal: context.signal,
      start: () => terminal.start(input.command, { background, stdin, timeout }),
    });
    try {
      const done = () => command.settled || terminal.background.includes(command);
      await terminal.changes.until(
        () => done() || terminal.closed,
        input.wait * 1000,
        context.signal,
      );
      if (context.signal.aborted && !done()) await interrupt(terminal, command);
    } finally {
      command.watchers -= 1;
      terminal.changes.notify();
    }
    return this.#answer(terminal, { command, from: command.from });
  };

  'terminal.input' = async (
    input: OperationInput<Operations['terminal.input']>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    assertAgentTypes(terminal);
    const command = terminal.current;
    if (!command && !terminal.personal) {
      throw new AppError(
        'conflict',
        `Nothing runs in the terminal ${terminal.name} that could take input; start a program with terminal.run first.`,
      );
    }
    const from = terminal.output.tape.end;
    const typed = Date.now();
    terminal.type(
      input.text.replace(/\r?\n/g, '\r') + input.keys.map((key) => keySequences[key]).join(''),
    );
    const settled = () =>
      command?.settled ||
      (terminal.output.tape.end > from && Date.now() - terminal.output.lastTime >= quiet);
    while (!settled() && Date.now() - typed < input.wait * 1000 && !context.signal.aborted) {
      const left = typed + input.wait * 1000 - Date.now();
      await terminal.changes.until(settled, Math.min(quiet / 3, left), context.signal);
    }
    return this.#answer(terminal, { command, from });
  };

  'terminal.read' = async (
    input: OperationInput<Operations['terminal.read']>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    const command = terminal.current;
    if (command) {
      command.watchers += 1;
      const ended = () => command.settled || terminal.closed;
      await terminal.changes.until(ended, input.wait * 1000, context.signal);
      command.watchers -= 1;
      terminal.changes.notify();
    }
    if (input.from === undefined) return this.#answer(terminal, { command, limit: input.limit });
    const page = outputText(terminal.output.tape, {
      from: input.from,
      to: Math.max(input.from, Math.min(input.from + input.limit, terminal.output.tape.end)),
      limit: input.limit,
      rows: terminal.rows,
    });
    return { ...state(terminal, command), ...page };
  };

  'terminal.interrupt' = async (
    input: OperationInput<Operations['terminal.interrupt']>,
    context: CallContext,
  ): Promise<RunResult> => {
    const terminal = await this.#existing(input.terminal);
    if (context.source === 'agent') assertAgentTypes(terminal);
    const command = terminal.current;
    if (command && input.kill) {
      await terminal.kill(command, 'kill');
    } else if (command) {
      await pressInterrupt(terminal, command);
    } else if (terminal.personal) {
      terminal.type('\x03');
    } else {
      const left = terminal.runningInBackground();
      if (input.kill) await Promise.all(left.map((each) => terminal.kill(each, 'kill')));
      else terminal.interruptBackground();
    }
    return this.#answer(terminal, { command });
  };

  'terminal.close' = async (input: OperationInput<Operations['terminal.close']>) => {
    const terminal = this.terminals.find(input.terminal);
    if (terminal) await this.terminals.close(terminal);
    return { closed: terminal !== undefined };
  };

  'terminal.list' = () =>
    Promise.resolve({
      terminals: this.terminals.all().map((terminal) => {
        const command = terminal.current ?? terminal.runningInBackground().at(-1);
        return {
          terminal: terminal.name,
          running: command?.text ?? (terminal.personal ? 'a program that a person started' : null),
          seconds: command?.seconds ?? null,
          directory: terminal.whereabouts,
          holder: terminal.holder,
          size: terminal.output.tape.end,
          columns: terminal.columns,
          rows: terminal.rows,
        };
      }),
    });

  /** Waits until the terminal can take a command and nobody is before; a command that nobody waits for is an error. */
  async #turn(
    terminal: Terminal,
    options: { ms: number; signal: AbortSignal; start: () => Command },
  ): Promise<Command> {
    const queue = this.#queues.get(terminal) ?? [];
    this.#queues.set(terminal, queue);
    const ticket = Symbol('turn');
    queue.push(ticket);
    const first = () => queue[0] === ticket;
    const hopeless = () =>
      terminal.closed ||
      terminal.broken ||
      terminal.holder === 'user' ||
      (first() && terminal.current?.watchers === 0);
    const ready = () => first() && terminal.free;
    try {
      await terminal.changes.until(() => hopeless() || ready(), options.ms, options.signal);
      // The caller waits for its command; that a new shell takes its time on a busy machine is no answer to it.
      const opening = () => first() && !terminal.current && !terminal.personal;
      const settled = () => hopeless() || ready() || !opening();
      await terminal.changes.until(settled, openingPatience, options.signal);
      if (options.signal.aborted) {
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
    const terminal = this.terminals.find(name);
    if (terminal) return terminal;
    if (name === alwaysThere) return this.terminals.open(name);
    throw new AppError(
      'not_found',
      `No terminal ${name} is open; terminal.run opens one, terminal.list shows them.`,
    );
  }

  #answer(
    terminal: Terminal,
    about: { command: Command | undefined; from?: number; limit?: number },
  ): RunResult {
    const { command = terminal.last } = about;
    const to = command?.ended && about.from !== undefined ? command.ended.to : terminal.output.end;
    const from = screenStart(terminal, command) ?? about.from ?? this.#answered.get(terminal) ?? 0;
    const text = outputText(terminal.output.tape, {
      from,
      to,
      limit: about.limit ?? textLimit,
      rows: terminal.rows,
    });
    this.#answered.set(terminal, terminal.output.past(text.to));
    return { ...state(terminal, about.command), ...text };
  }
}

function state(terminal: Terminal, given: Command | undefined) {
  const command = given ?? terminal.current ?? terminal.last;
  const running = command ? 'running' : terminal.personal ? 'running' : 'exited';
  return {
    terminal: terminal.name,
    status: command?.background ? 'background' : (command?.ended?.status ?? running),
    exitCode: command?.ended?.exitCode ?? null,
    seconds: command?.seconds ?? 0,
    directory: terminal.whereabouts,
  } as const;
}

/** A full-screen program only sends changes: its picture is complete from its beginning on. */
function screenStart(terminal: Terminal, command: Command | undefined): number | undefined {
  if (!command || command.ended) return undefined;
  const end = terminal.output.tape.end;
  const from = Math.max(command.from, terminal.output.tape.start, end - screenReach);
  const bytes = terminal.output.tape.slice(from, end);
  const enter = bytes.lastIndexOf('\x1b[?1049h');
  return enter > bytes.lastIndexOf('\x1b[?1049l') ? from + enter : undefined;
}

async function interrupt(terminal: Terminal, command: Command): Promise<void> {
  await pressInterrupt(terminal, command);
  if (!command.ended) await terminal.kill(command, 'kill');
}

async function pressInterrupt(terminal: Terminal, command: Command): Promise<void> {
  command.cause ??= 'interrupt';
  terminal.type('\x03');
  await terminal.changes.until(() => command.ended !== undefined, interruptPatience);
  // It took the key as it likes and goes on: how it ends later is its own matter.
  if (!command.ended && command.cause === 'interrupt') command.cause = undefined;
}

function assertAgentTypes(terminal: Terminal): void {
  if (terminal.holder === 'agent') return;
  throw new AppError(
    'conflict',
    `A person has taken over the terminal ${terminal.name}; wait until it is handed back, or use another terminal.`,
  );
}

function busy(terminal: Terminal): AppError {
  if (terminal.closed) return new AppError('conflict', `The terminal ${terminal.name} was closed.`);
  if (terminal.broken) {
    return new AppError(
      'unavailable',
      `No shell can be started in the terminal ${terminal.name}; close it and try again.`,
    );
  }
  const command = terminal.current;
  const what = command
    ? `\`${command.text.slice(0, 200)}\` still runs in the terminal ${terminal.name}, for ${Math.round(command.seconds)} s`
    : `The terminal ${terminal.name} is not ready: a program that a person started may still run in it`;
  return new AppError(
    'conflict',
    `${what}; wait for it with terminal.read, end it with terminal.interrupt, or use another terminal.`,
  );
}
