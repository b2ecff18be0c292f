import type {
  ClientConnection,
  ContentBlock,
  InitializeRequest,
  McpServer,
  NewSessionRequest,
  NewSessionResponse,
  StopReason,
} from '@agentclientprotocol/sdk';
import { AppError, belayVersion, errorFrom, type AgentProgram } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { z } from 'zod';
import { ProgramProcess } from '../program-process.js';
import { trustFault } from '../trust-fault.js';
import type { AcpListener } from './acp-listener.js';
import { modesOption } from './offered-settings.js';
import {
  breachText,
  faultText,
  invalidAnswerText,
  loginText,
  noAnswerText,
  notChosenText,
  notOpenedText,
  programEndText,
  withoutToken,
} from './failure-text.js';
import { messageStream } from './message-stream.js';
import {
  initialized,
  promptAnswer,
  sessionAnswer,
  settingsAnswer,
  type Initialized,
} from './program-answers.js';
import { reportedError, wantsLogin } from './reported-error.js';

export interface AcpProgramOptions {
  program: AgentProgram;
  trusted: boolean;
  cwd: string;
  env: Record<string, string>;
  mcpServers: McpServer[];
  listener: AcpListener;
  /** How long the program may take to answer when it starts, in milliseconds. */
  startTimeoutMs?: number;
}

/** An open conversation of a program. */
export interface Opened extends Pick<NewSessionResponse, 'modes' | 'configOptions'> {
  id: string;
  /** Why an earlier conversation could not be continued, so that this one is new. */
  fault?: string;
}

interface Choice {
  id: string;
  value: string;
}
type Chosen = Pick<NewSessionResponse, 'configOptions'> | undefined;

const usualStartTimeoutMs = 60_000;
/** How many times as long it may take to open a conversation, which may be long, and has tools to connect, or to set an option. */
const openTimes = 5;
const termTimeoutMs = 5_000;
/** The invalid messages after which a program is ended. */
const mostFaults = 1_000;

type Sdk = typeof import('@agentclientprotocol/sdk');

/** A running program that speaks ACP. Its calls reject with `unavailable` and a sentence once it has ended. */
export class AcpProgram {
  readonly #options: AcpProgramOptions;
  readonly #process: ProgramProcess;
  readonly #connection: ClientConnection;
  readonly #methods: Sdk['methods'];
  #initialized: Initialized | undefined;
  #session = '';
  /** An earlier conversation is being replayed, which the log has already. */
  #replays = false;
  #faults = 0;
  /** The last message was an update of which no handler knows, because its content is not valid. */
  #isUnhandled = false;
  #isEnding = false;
  /** Resolves with the sentence about its end; never rejects. */
  readonly ended: Promise<AppError>;

  private constructor(options: AcpProgramOptions, sdk: Sdk) {
    this.#options = options;
    const { program, trusted, cwd, env } = options;
    const launch = trusted ? program.launches.trusted : program.launches.untrusted;
    this.#process = new ProgramProcess(launch, { cwd, env });
    this.#methods = sdk.methods;
    this.#connection = this.#connect(sdk);
    this.ended = this.#process.ended.then((end) => {
      this.#isEnding = true;
      const text =
        this.#faults < mostFaults
          ? programEndText(program, end, withoutToken(this.#process.lastLine, program))
          : breachText(program.title, mostFaults);
      return new AppError('unavailable', text);
    });
  }

  /** Starts the program; rejects with `unavailable` and a sentence if it must not start or does not speak ACP. */
  static async start(options: AcpProgramOptions): Promise<AcpProgram> {
    const { program, trusted, cwd } = options;
    const fault = trustFault(program, { trusted, workspace: cwd });
    if (fault) throw fault;
    const sdk = await import('@agentclientprotocol/sdk');
    const started = new AcpProgram(options, sdk);
    try {
      await started.#initialize(sdk.PROTOCOL_VERSION);
    } catch (thrown) {
      await started.end();
      throw thrown;
    }
    return started;
  }

  /** Whether it has ended, or is being ended. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  get takesPictures(): boolean {
    return this.#initialized?.agentCapabilities.promptCapabilities.image === true;
  }

  /** Continues a conversation if it can, or begins a new one, and prepares it. A program that does not is ended. */
  open<T>(conversation: string | null, prepare: (opened: Opened) => Promise<T>): Promise<T> {
    const prepared = async (): Promise<T> => {
      const result = await prepare(await this.#open(conversation));
      // What is set may end it.
      if (this.#isEnding) throw await this.ended;
      return result;
    };
    return this.#inTime(prepared(), notOpenedText, openTimes);
  }

  async #open(conversation: string | null): Promise<Opened> {
    const { cwd, mcpServers, program, trusted } = this.#options;
    const launch = trusted ? program.launches.trusted : program.launches.untrusted;
    const { _meta } = launch.newSession;
    const request: NewSessionRequest = { cwd, mcpServers, ...(_meta && { _meta }) };
    const earlier = conversation === null ? null : await this.#continue(conversation, request);
    if (earlier && !('fault' in earlier)) return earlier;
    const { session } = this.#methods.agent;
    const begin = () => this.#ask((agent) => agent.request(session.new, request), sessionAnswer);
    const begun = await begin().catch(async (thrown: unknown) => {
      if (!wantsLogin(thrown)) throw thrown;
      await this.#authenticate();
      return begin();
    });
    this.#session = begun.sessionId;
    const { sessionId: id, ...settings } = begun;
    return { id, ...settings, ...earlier };
  }

  /** Resolves when the turn has ended and all its updates have been reported. */
  async prompt(prompt: ContentBlock[]): Promise<StopReason> {
    const { session } = this.#methods.agent;
    const sessionId = this.#session;
    const { stopReason } = await this.#ask(
      (agent) => agent.request(session.prompt, { sessionId, prompt }),
      promptAnswer,
    );
    return stopReason;
  }

  /** Asks the program to end its turn; the prompt’s reply follows. */
  async cancel(): Promise<void> {
    const params = { sessionId: this.#session };
    await this.#connection.agent.notify(this.#methods.agent.session.cancel, params);
  }

  /**
   * Sets an option that it offered. Returns the options as they are then; undefined if it does not say. One that takes
   * longer than an opening goes on, as it may be in a turn.
   */
  choose(choice: Choice, isBoolean: boolean): Promise<Chosen> {
    const timeoutMs = this.#timeoutMs(openTimes);
    return inTime(this.#choose(choice, isBoolean), timeoutMs, () => {
      const { title } = this.#options.program;
      throw new AppError('unavailable', notChosenText(title, timeoutMs / 1_000));
    });
  }

  async #choose({ id: configId, value }: Choice, isBoolean: boolean): Promise<Chosen> {
    const { session } = this.#methods.agent;
    const sessionId = this.#session;
    if (configId === modesOption) {
      await this.#ask(
        (agent) => agent.request(session.setMode, { sessionId, modeId: value }),
        z.unknown(),
      );
      return undefined;
    }
    const chosen = isBoolean ? ({ type: 'boolean', value: value === 'true' } as const) : { value };
    return this.#ask(
      (agent) => agent.request(session.setConfigOption, { sessionId, configId, ...chosen }),
      settingsAnswer,
    );
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#process.end(termTimeoutMs);
    this.#connection.close();
  }

  #connect({ client, methods, RequestError }: Sdk): ClientConnection {
    const { listener } = this.#options;
    const { input, output } = this.#process;
    const stream = messageStream(
      { input, output },
      {
        onNoise: (line) => this.#process.keep(line),
        onFault: (fault) => this.#noteFault(fault),
        taken: () => listener.taken(),
        onMessage: ({ method }) => {
          listener.received();
          // The SDK passes an update to its handler before it reads on, unless the content is not valid.
          if (this.#isUnhandled) this.#noteFault('has no valid content');
          this.#isUnhandled = method === methods.client.session.update;
        },
      },
    );
    return (
      client({ name: 'belay' })
        .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
          this.#isUnhandled = false;
          if (sessionId === this.#session && !this.#replays) listener.update(update);
        })
        .onRequest(methods.client.session.requestPermission, ({ params }) =>
          listener.requestPermission(params),
        )
        .onRequest(methods.client.elicitation.create, ({ params }) => listener.elicit(params))
        .onRequest('*', ({ method }: { method: string }) => {
          throw RequestError.methodNotFound(method);
        })
        // Other notifications are none of ours.
        .onNotification('*', () => undefined)
        .connect(stream)
    );
  }

  #noteFault(fault: string): void {
    this.#faults += 1;
    if (this.#faults === 1)
      this.#options.listener.sentInvalid(faultText(this.#options.program.title, fault));
    if (this.#faults === mostFaults) void this.#process.end(0);
  }

  async #initialize(protocolVersion: number): Promise<void> {
    const request: InitializeRequest = {
      protocolVersion,
      clientInfo: { name: 'belay', title: 'Belay', version: belayVersion },
      // Neither files nor terminals: programs have those of the sandbox.
      clientCapabilities: { elicitation: { form: {} }, _meta: { terminal_output: true } },
    };
    this.#initialized = await this.#inTime(
      this.#ask((agent) => agent.request(this.#methods.agent.initialize, request), initialized),
      noAnswerText,
    );
  }

  /** Ends the program when it takes longer. */
  #inTime<T>(work: Promise<T>, text: typeof noAnswerText, times = 1): Promise<T> {
    const timeoutMs = this.#timeoutMs(times);
    return inTime(work, timeoutMs, () => {
      void this.end();
      throw new AppError('unavailable', text(this.#options.program.title, timeoutMs / 1_000));
    });
  }

  #timeoutMs(times: number): number {
    return times * (this.#options.startTimeoutMs ?? usualStartTimeoutMs);
  }

  async #continue(
    sessionId: string,
    request: NewSessionRequest,
  ): Promise<Opened | { fault: string }> {
    const { session } = this.#methods.agent;
    const { agentCapabilities: can } = this.#initialized ?? {};
    this.#session = sessionId;
    try {
      const canResume = Boolean(can?.sessionCapabilities.resume);
      if (!canResume && !can?.loadSession) return { fault: 'it cannot continue one' };
      this.#replays = !canResume;
      const given = await this.#ask(
        (agent) =>
          canResume
            ? agent.request(session.resume, { sessionId, ...request })
            : agent.request(session.load, { sessionId, ...request }),
        settingsAnswer,
      );
      return { id: sessionId, ...given };
    } catch (thrown) {
      if (this.#connection.signal.aborted) throw thrown;
      return { fault: errorFrom(thrown).message };
    } finally {
      this.#replays = false;
    }
  }

  async #authenticate(): Promise<void> {
    const { authenticate, title } = this.#options.program;
    const methods = this.#initialized?.authMethods ?? [];
    const known = methods.find(({ id }) => id === authenticate);
    if (!known) throw new AppError('unavailable', loginText(title));
    await this.#ask(
      (agent) => agent.request(this.#methods.agent.authenticate, { methodId: known.id }),
      z.unknown(),
    ).catch(() => {
      throw new AppError('unavailable', loginText(title));
    });
  }

  /** Calls the program; rejects with the sentence about its end if it ends meanwhile. */
  async #ask<T>(
    call: (agent: ClientConnection['agent']) => Promise<unknown>,
    schema: z.ZodType<T>,
  ): Promise<T> {
    const ended = this.#process.ended.then(async () => {
      throw await this.ended;
    });
    // One of the two may reject after the other has won.
    ended.catch(() => undefined);
    const answer = call(this.#connection.agent).catch(async (thrown: unknown) => {
      // The connection closes a moment before the program has ended.
      if (this.#connection.signal.aborted) return ended;
      throw reportedError(thrown, this.#options.program);
    });
    const result = await Promise.race([answer, ended]);
    // Updates that came before the answer are handled before it counts.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    const known = schema.safeParse(result);
    if (known.success) return known.data;
    throw new AppError('model_failed', invalidAnswerText(this.#options.program.title));
  }
}
