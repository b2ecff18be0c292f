import {
  AppError,
  describeCall,
  errorFrom,
  maxDelivered,
  type eventArgs,
  ignoreError,
  isEvent,
  newEvent,
  pathsOf,
  type AgentProgram,
  type ServerService,
  type Event,
  type EventOf,
  type StartPayload,
} from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { z } from 'zod';
import type { AgentServices, CreateServices } from './agent-services.js';
import { callableIn, checkCall, type CheckedCall } from './check-call.js';
import { AcpDriver } from './drivers/acp/acp-driver.js';
import type { AgentDriver, DriverOptions } from './drivers/agent-driver.js';
import { OwnDriver } from './drivers/own-driver.js';
import { TerminalDriver } from './drivers/terminal/terminal-driver.js';
import type { Conversation } from './loop/conversation.js';
import { putBackgroundResult } from './mcp/actions.js';
import { OperationRunner } from './operation-runner.js';
import { Outbox } from './outbox.js';
import type { ServerConnection } from './server-connection.js';
import { AgentLog } from './agent-log.js';

/** How long a run that failed may take to store what it has written: longer than another server needs to take over. */
const lastWordsMs = 20_000;

export interface SessionRunOptions {
  connection: ServerConnection;
  startPayload: StartPayload;
  /** The services that the server is configured with. */
  services: readonly ServerService[];
  createServices: CreateServices;
  /** The agent can do no more for this session: a newer agent has it, or it failed. */
  onEnd(error: AppError): void;
  /** What to do each time that no event has been stored for this long, in milliseconds. */
  idle?: { afterMs: number; run(): void };
}

/** One session in this agent: its log, its services and the agent that works on it. */
export class SessionRun {
  readonly log: AgentLog;
  readonly session: string;
  readonly epoch: number;
  readonly services: Promise<AgentServices>;
  readonly #connection: ServerConnection;
  readonly #startPayload: StartPayload;
  readonly #onEnd: SessionRunOptions['onEnd'];
  readonly #idle: SessionRunOptions['idle'];
  readonly #outbox: Outbox;
  readonly #runner: OperationRunner;
  readonly #driver: AgentDriver;
  readonly #callable: ReturnType<typeof callableIn>;
  readonly #closing = new AbortController();
  #page: () => string | null = () => null;
  #recorded: Promise<void> = Promise.resolve();
  #driven: Promise<void> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: SessionRunOptions) {
    const { connection, startPayload, createServices, onEnd } = options;
    const { session, epoch } = startPayload;
    this.session = session;
    this.epoch = epoch;
    this.#connection = connection;
    this.#startPayload = startPayload;
    this.#onEnd = onEnd;
    this.#idle = options.idle;
    this.#callable = callableIn(startPayload.settings);
    this.log = new AgentLog(withStart(startPayload));
    this.#outbox = new Outbox({
      send: async (events) =>
        (await connection.call('events.append', { session, epoch, events })).seqs,
      stored: ({ n: _n, ...event }, seq) => {
        this.log.stored({ ...event, source: 'agent' }, seq);
        this.#restartIdleTimer();
      },
      refused: onEnd,
    });
    this.services = createServices({
      writer: this.#outbox,
      connection,
      settings: startPayload.settings,
    });
    this.#runner = new OperationRunner(connection, this.services, this.#outbox);
    this.#driver = driverOf(startPayload.program, {
      connection,
      log: this.log,
      writer: this.#outbox,
      services: this.services,
      runner: this.#runner,
      settings: startPayload.settings,
      serverServices: options.services,
      page: () => this.#page(),
      deliver: (messages, through) => this.#deliver(messages, through),
      recorded: () => this.recorded(),
    });
  }

  /** Resolves when the services are open; the agent then works by itself. */
  async begin(): Promise<void> {
    const services = await this.services;
    this.#page = () => services.page();
    await this.#openGateway(services);
    services.guidance.show(this.#startPayload.program?.project ?? []);
    await this.#runner.begin();
    const { planFile = null } = this.log.conversation.settings ?? {};
    await services.plan.begin(planFile, this.log.conversation.plan);
    // Initial trust applies to the workspace’s original guidance; later files may come from the agent’s work.
    const { settings, items } = this.log.conversation;
    const isNew = !items.some(({ kind }) => kind === 'turn');
    if (settings?.trust && isNew) await services.guidance.trustPresent();
    this.#driven = this.#driver.run(this.#closing.signal).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) void this.#fail(errorFrom(error));
    });
  }

  /** The process ends with it. */
  async #fail(error: AppError): Promise<void> {
    const stored = this.close().catch(ignoreError('the failure before it is the reason'));
    await inTime(stored, lastWordsMs, () => undefined);
    this.#onEnd(error);
  }

  async #openGateway(services: AgentServices): Promise<void> {
    const { program: given, settings } = this.#startPayload;
    // One that its user signs in to calls its vendor itself.
    const program = given?.login ? undefined : given;
    const inTerminals = settings.modelForPrograms;
    if (!program && !inTerminals) return;
    // Its program runs the calls of the next reply, whose changes are others.
    const beforeReply = program && (() => this.recorded());
    await services.openGateway({ token: program?.token, beforeReply, inTerminals });
  }

  /** Adds events of others, in order. */
  async receive(events: readonly Event[]): Promise<void> {
    // The background calls in progress, before their results are added.
    const { background } = this.log.conversation;
    const fresh = this.log.receive(events);
    for (const event of fresh)
      if (isEvent(event, 'background-result')) this.#record(event, background);
    this.#driver.handle(fresh);
    if (fresh.some(({ action }) => action === 'stop' || action === 'limit')) {
      await this.#killRunning();
    }
  }

  /** Runs a user’s call of an operation. Throws the operation’s errors. */
  async call(
    id: string,
    { operation: name, input: given }: { operation: string; input: unknown },
    signal: AbortSignal,
  ): Promise<unknown> {
    const call = checkCall(name, given, this.#callable);
    if (call.operation.servedBy === 'run') return this.#driver.prompt();
    const context = { id, source: 'user', signal } as const;
    if (call.operation.quiet(call.input)) return this.#runner.runAtOnce(call, context);
    const message = describeCall(call.operation, call.input, this.#page());
    this.#outbox.append({ source: 'user', action: name, args: call.input, message, id });
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    const end = (result: Omit<z.input<typeof eventArgs.result>, 'operation'>) => {
      const { ok } = result;
      const args = { operation: name, ...result };
      const outcome = `${name} ${ok ? 'done' : 'failed'}`;
      this.#outbox.append(newEvent('user', 'result', { args, message: outcome, id }));
    };
    try {
      const output = await this.#runner.run(call, context);
      const took = seconds();
      this.#runner.record(id, call);
      // The model learns of the changes together with the call.
      const changes = await this.#runner.changesOf(id, call);
      end({ ok: true, output, seconds: took, ...changes });
      await this.#guideAfter(call, output);
      // What the server says about a rewind comes after it in the log.
      if (call.operation.commitsItself) await this.#outbox.flush();
      return output;
    } catch (thrown) {
      end({ ok: false, output: errorFrom(thrown).toJSON(), seconds: seconds() });
      throw thrown;
    }
  }

  /** Resolves when all changes so far are in the history, and all results to be stored as files are written. */
  async recorded(): Promise<void> {
    await this.#recorded;
    await this.#runner.recorded();
  }

  /** Resolves when the server has a copy of all changes so far. Rejects with the reason why it has none. */
  async flushCopies(): Promise<void> {
    await this.recorded();
    await (await this.services).history.copies.flush();
  }

  /** Ends the agent and running work, and waits until the remaining events are logged. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError('cancelled', 'The agent was stopped.'));
    clearTimeout(this.#idleTimer);
    const services = await this.services;
    await services.close();
    await this.#driven;
    await this.leave();
  }

  /**
   * Sends what is recorded and logged so far. Nothing is ended or taken back, so that the next agent waits for what this
   * one has asked its user.
   */
  async leave(): Promise<void> {
    await this.recorded();
    await (await this.services).history.copies.close();
    await this.#outbox.flush().catch(ignoreError('a newer agent has the session'));
  }

  /** Records changes of a background call with its result. */
  #record(event: EventOf<'background-result'>, background: Conversation['background']): void {
    const { id = '' } = event;
    const call = background.find((one) => one.id === id);
    const operation = this.#callable.find(({ name }) => name === call?.operation);
    if (call && operation) this.#runner.record(id, { operation, input: { ...call.input } });
    const { signal } = this.#closing;
    const put = () => putBackgroundResult(this.#connection, event, signal);
    this.#recorded = this.#recorded
      .then(put)
      .catch(ignoreError('the beginning and the end of it are in the message'));
  }

  async #deliver(messages: readonly number[], through: number): Promise<boolean> {
    const { epoch } = this;
    for (let from = 0; from < messages.length; from += maxDelivered) {
      const some = messages.slice(from, from + maxDelivered);
      const answer = await this.#connection
        .call('messages.deliver', { epoch, messages: some, through })
        .catch(errorFrom);
      if (!(answer instanceof AppError)) continue;
      if (answer.code === 'conflict') return false;
      throw answer;
    }
    return true;
  }

  async #guideAfter({ operation, input }: CheckedCall, output: unknown): Promise<void> {
    if (!operation.changesGuidance) return;
    await this.#outbox.flush();
    await this.#driver.guidanceChanged(pathsOf(operation, input, output));
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    if (!this.#idle || this.#closing.signal.aborted) return;
    this.#idleTimer = setTimeout(this.#idle.run, this.#idle.afterMs).unref();
  }

  async #killRunning(): Promise<void> {
    const { terminals, handlers } = await this.services;
    const context = { id: 'stop', source: 'user', signal: this.#closing.signal } as const;
    for (const { terminal } of terminals.running()) {
      await handlers['terminal.interrupt']({ terminal, kill: true }, context).catch(
        ignoreError('the command has ended'),
      );
    }
  }
}

/** What works on the session: Belay’s own loop, unless it has a program of another vendor. */
function driverOf(program: AgentProgram | undefined, options: DriverOptions): AgentDriver {
  if (!program) return new OwnDriver(options);
  const given = { ...options, program };
  return program.protocol === 'acp' ? new AcpDriver(given) : new TerminalDriver(given);
}

/** The log of a new session may still be empty here, but its first event is known. */
function withStart({ events, settings }: StartPayload): Event[] {
  if (events.some((event) => event.action === 'start')) return events;
  const start = newEvent('user', 'start', { args: settings, message: settings.task });
  return [{ ...start, seq: 0, time: new Date().toISOString() }, ...events];
}
