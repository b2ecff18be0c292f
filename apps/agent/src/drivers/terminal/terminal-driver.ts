import {
  AppError,
  agentTerminal,
  calledOperation,
  errorFrom,
  isCall,
  isEvent,
  newEvent,
  shellQuoted,
  type AgentProgram,
  type Event,
  type OperationOutput,
  type ProgramLaunch,
  type TurnEnd,
} from '@belay/protocol';
import { AttentionSignals } from '../../terminal/attention-signals.js';
import type { AgentDriver, DriverOptions } from '../agent-driver.js';
import { refusalOf, unreportedResult, type UnreportedCall } from '../unreported-result.js';
import { missingText, notFoundExit } from '../end-of-program.js';
import { trustFault } from '../trust-fault.js';
import { SessionProgram } from '../session-program.js';
import { writeProgramFiles } from '../write-program-files.js';

export interface TerminalDriverOptions extends DriverOptions {
  program: AgentProgram;
  /** How long a program may print and request nothing before it counts as waiting, in milliseconds. */
  quietMs?: number;
}

const usualQuietMs = 15_000;

/**
 * A program that its user types into, in a terminal of its own. What it does is seen in the terminal and by the model
 * gateway alone; queued messages wait until the user sends them at once.
 */
export class TerminalDriver implements AgentDriver {
  readonly #options: TerminalDriverOptions;
  readonly #program: SessionProgram;
  /** Why the program waits for its user; null if it does not. */
  #attention: string | null = null;
  #quiet: NodeJS.Timeout | undefined;
  #runs = false;
  /** The calls that the server has read from the program’s model, by id; the program ends them unseen. */
  readonly #calls = new Map<string, UnreportedCall>();

  constructor(options: TerminalDriverOptions) {
    this.#options = options;
    this.#program = new SessionProgram(options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log, writer } = this.#options;
    try {
      while (!signal.aborted) {
        await writer.flush();
        const { conversation } = log;
        const { settings, ended, paused, program } = conversation;
        // The process in which the program ran is gone.
        if (program?.hasTurn) this.#writeEnd('interrupted');
        else if (!settings || ended || paused) await log.changed(signal);
        else await this.#runProgram(log.seen.others, signal);
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    } finally {
      clearTimeout(this.#quiet);
    }
  }

  handle(events: readonly Event[]): void {
    for (const event of events) {
      const { id = '', source, action } = event;
      const known = this.#calls.get(id);
      if (source === 'server' && isCall(action)) this.#calls.set(id, { event, refusal: undefined });
      if (known && isEvent(event, 'reject')) known.refusal = refusalOf(event);
      // It has their results when it asks its model again.
      if (isEvent(event, 'request') && event.args.purpose === 'turn') void this.#endCalls();
      if (isEvent(event, 'usage')) this.#goOn();
      if (isEvent(event, 'change')) this.#program.model = event.args.model ?? this.#program.model;
      if (isEvent(event, 'message') && event.args.delivery === 'steer')
        void this.#type(event.args.text);
    }
  }

  prompt(): Promise<OperationOutput<'session.prompt'>> {
    const { title } = this.#options.program;
    return Promise.reject(
      new AppError('unavailable', `Only ${title} knows what it sends to its model.`),
    );
  }

  async guidanceChanged(): Promise<void> {
    // The program has read its files; its user starts it again.
  }

  async #runProgram(through: number, signal: AbortSignal): Promise<void> {
    const { writer, log } = this.#options;
    const { environment, terminals } = await this.#options.services;
    const { workspace } = environment();
    const program = await this.#program.current().catch(errorFrom);
    if (program instanceof AppError) return this.#interrupt(program.message);
    const { launches, home, title } = program;
    const { trusted } = log.conversation;
    const fault = trustFault(program, { trusted, workspace });
    if (fault) return this.#interrupt(fault.message);
    const launch = trusted ? launches.trusted : launches.untrusted;
    const script = `${home}/belay-start.sh`;
    // The program has the task from its first start, and its user goes on in it.
    const again = log.conversation.program && launch.again;
    const text = startScript(launch.env, again ?? launch.command);
    writeProgramFiles([...launch.files, { path: script, text }]);
    const args = { change: 'began', conversation: agentTerminal, through } as const;
    writer.append(newEvent('agent', 'turn', { args, message: `${title} begins.` }));
    const signals = new AttentionSignals((text) => {
      // The terminal of a sign-in may show a credential, so that nothing of it goes into the log.
      this.#wait((!program.login && text) || `${title} rang the bell.`);
    });
    this.#runs = true;
    this.#restartQuiet();
    const command = `sh ${shellQuoted(script)}`;
    const exit = await terminals
      .runProgram(
        { name: agentTerminal, command },
        {
          signal,
          onKeys: () => this.#goOn(),
          onOutput: (bytes) => {
            this.#restartQuiet();
            signals.push(bytes);
          },
        },
      )
      .catch(errorFrom);
    this.#runs = false;
    clearTimeout(this.#quiet);
    this.#goOn();
    await this.#endCalls();
    if (program.login) await this.#recordChanges();
    this.#finish(exit, signal);
  }

  /** Of a program whose calls nobody sees, all changes until it waits for its user are one step. */
  async #recordChanges(): Promise<void> {
    const { history } = await this.#options.services;
    await history.commit({ id: '', message: `Changes by ${this.#options.program.title}` });
  }

  /** Writes the results of the calls so far, and has what they changed recorded. */
  async #endCalls(): Promise<void> {
    const { writer, runner, services } = this.#options;
    const ended = [...this.#calls];
    this.#calls.clear();
    if (ended.length === 0) return;
    const { workspace: cwd } = (await services).environment();
    const text = `What it printed is in the terminal ${agentTerminal}.`;
    for (const [id, call] of ended) {
      writer.append(unreportedResult(call, { text, cwd }));
      const operation = calledOperation(call.event.action);
      const input = call.event.args;
      if (operation && !call.refusal) runner.record(id, { operation, input }, []);
    }
  }

  #finish(exit: number | null | AppError, signal: AbortSignal): void {
    const { title } = this.#options.program;
    const { ended, paused } = this.#options.log.conversation;
    this.#writeEnd(exit === 0 ? 'done' : 'interrupted');
    if (signal.aborted || ended || paused) return;
    if (exit instanceof AppError) this.#interrupt(exit.message);
    else if (exit === 0) this.#write('end', { text: `${title} has ended.` }, `${title} has ended.`);
    else if (exit === notFoundExit) this.#interrupt(missingText(this.#options.program));
    else this.#interrupt(`${title} ended (${exit === null ? 'killed' : `exit ${exit}`}).`);
  }

  /** Types a message that the user sends at once. */
  async #type(text: string): Promise<void> {
    if (!this.#runs) return;
    const { terminals } = await this.#options.services;
    terminals.hold(agentTerminal, 'user');
    terminals.keys(agentTerminal, `\x1b[200~${text.replaceAll('\x1b', '')}\x1b[201~`);
    terminals.keys(agentTerminal, '\r');
  }

  #restartQuiet(): void {
    clearTimeout(this.#quiet);
    const { program, quietMs = usualQuietMs } = this.#options;
    const wait = () => this.#wait(`${program.title} waits in its terminal.`);
    this.#quiet = setTimeout(wait, quietMs).unref();
  }

  #wait(why: string): void {
    if (this.#attention !== null || !this.#runs) return;
    this.#attention = why;
    this.#write('attention', { why }, why);
    if (this.#options.program.login) void this.#recordChanges();
  }

  #goOn(): void {
    if (this.#runs) this.#restartQuiet();
    if (this.#attention === null) return;
    this.#attention = null;
    this.#write('attention', { why: null }, `${this.#options.program.title} goes on.`);
  }

  #interrupt(message: string): void {
    this.#write('error', { code: 'unavailable', message }, message);
  }

  #writeEnd(end: TurnEnd): void {
    this.#write('turn', { change: 'ended', end }, `Turn ${end}.`);
  }

  #write<A extends 'turn' | 'attention' | 'error' | 'end'>(
    action: A,
    args: Parameters<typeof newEvent<A>>[2]['args'],
    message: string,
  ): void {
    this.#options.writer.append(newEvent('agent', action, { args, message }));
  }
}

/** Starts the program with its variables, which a command in a terminal would show. */
const startScript = (env: ProgramLaunch['env'], command: readonly string[]): string =>
  [
    ...Object.entries(env).map(([name, value]) => `export ${name}=${shellQuoted(value)}`),
    `exec ${command.map(shellQuoted).join(' ')}`,
    '',
  ].join('\n');
