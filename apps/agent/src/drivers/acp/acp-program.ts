import type {
  ClientConnection,
  ContentBlock,
  CreateElicitationRequest,
  CreateElicitationResponse,
  InitializeRequest,
  InitializeResponse,
  McpServer,
  NewSessionRequest,
  NewSessionResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import { AppError, belayVersion, errorFrom, excerpt, type AgentProgram } from '@belay/protocol';
import { z } from 'zod';
import { ProgramProcess } from '../program-process.js';
import { trustFault } from '../trust-fault.js';
import { modesOption } from './offered-settings.js';
import { programEndText, loginText, noAnswerText } from './failure-text.js';
import { messageStream } from './message-stream.js';

/** What a program asks or reports of its conversation. */
export interface AcpListener {
  update(update: SessionUpdate): void;
  requestPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  elicit(request: CreateElicitationRequest): Promise<CreateElicitationResponse>;
  /** Called with every message of the program. */
  received(): void;
}

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

const usualStartTimeoutMs = 60_000;
/** ACP’s error for a program that wants a login first. */
const authRequired = -32_000;
const termTimeoutMs = 5_000;

type Sdk = typeof import('@agentclientprotocol/sdk');

/** A running program that speaks ACP. Its calls reject with `unavailable` and a sentence once it has ended. */
export class AcpProgram {
  readonly #options: AcpProgramOptions;
  readonly #process: ProgramProcess;
  readonly #connection: ClientConnection;
  readonly #methods: Sdk['methods'];
  #initialized: InitializeResponse | undefined;
  #session = '';
  /** An earlier conversation is being replayed, which the log has already. */
  #replays = false;
  /** Resolves with the sentence about its end; never rejects. */
  readonly ended: Promise<AppError>;

  private constructor(options: AcpProgramOptions, sdk: Sdk) {
    this.#options = options;
    const { program, trusted, cwd, env } = options;
    const launch = trusted ? program.launches.trusted : program.launches.untrusted;
    this.#process = new ProgramProcess(launch, { cwd, env });
    this.#methods = sdk.methods;
    this.#connection = this.#connect(sdk);
    this.ended = this.#process.ended.then(
      (end) =>
        new AppError(
          'unavailable',
          programEndText(program, end, this.#plain(this.#process.lastLine)),
        ),
    );
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

  get takesPictures(): boolean {
    return this.#initialized?.agentCapabilities?.promptCapabilities?.image === true;
  }

  /** Continues a conversation if the program can, or else begins a new one. */
  async open(conversation: string | null): Promise<Opened> {
    const { cwd, mcpServers, program, trusted } = this.#options;
    const launch = trusted ? program.launches.trusted : program.launches.untrusted;
    const { _meta } = launch.newSession;
    const request: NewSessionRequest = { cwd, mcpServers, ...(_meta && { _meta }) };
    const earlier = conversation === null ? null : await this.#continue(conversation, request);
    if (earlier && !('fault' in earlier)) return earlier;
    const { session } = this.#methods.agent;
    const begin = () => this.#ask((agent) => agent.request(session.new, request));
    const begun = await begin().catch(async (thrown: unknown) => {
      if (!wantsLogin(thrown)) throw thrown;
      await this.#authenticate();
      return begin();
    });
    this.#session = begun.sessionId;
    return { id: begun.sessionId, ...settingsIn(begun), ...earlier };
  }

  /** Resolves when the turn has ended and all its updates have been reported. */
  async prompt(prompt: ContentBlock[]): Promise<StopReason> {
    const { session } = this.#methods.agent;
    const sessionId = this.#session;
    const { stopReason } = await this.#ask((agent) =>
      agent.request(session.prompt, { sessionId, prompt }),
    );
    return stopReason;
  }

  /** Asks the program to end its turn; the prompt’s reply follows. */
  async cancel(): Promise<void> {
    const params = { sessionId: this.#session };
    await this.#connection.agent.notify(this.#methods.agent.session.cancel, params);
  }

  /** Sets an option that it offered. Returns the options as they are then; undefined if it does not say. */
  async choose(
    { id: configId, value }: { id: string; value: string },
    isBoolean: boolean,
  ): Promise<Pick<NewSessionResponse, 'configOptions'> | undefined> {
    const { session } = this.#methods.agent;
    const sessionId = this.#session;
    if (configId === modesOption) {
      await this.#ask((agent) => agent.request(session.setMode, { sessionId, modeId: value }));
      return undefined;
    }
    const chosen = isBoolean ? ({ type: 'boolean', value: value === 'true' } as const) : { value };
    return this.#ask((agent) =>
      agent.request(session.setConfigOption, { sessionId, configId, ...chosen }),
    );
  }

  async end(): Promise<void> {
    await this.#process.end(termTimeoutMs);
    this.#connection.close();
  }

  #connect({ client, methods, RequestError }: Sdk): ClientConnection {
    const { listener } = this.#options;
    const { input, output } = this.#process;
    const stream = messageStream({ input, output }, (line) => this.#process.keep(line));
    return client({ name: 'belay' })
      .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
        listener.received();
        if (sessionId === this.#session && !this.#replays) listener.update(update);
      })
      .onRequest(methods.client.session.requestPermission, ({ params }) => {
        listener.received();
        return listener.requestPermission(params);
      })
      .onRequest(methods.client.elicitation.create, ({ params }) => {
        listener.received();
        return listener.elicit(params);
      })
      .onRequest('*', ({ method }: { method: string }) => {
        throw RequestError.methodNotFound(method);
      })
      .onNotification('*', () => listener.received())
      .connect(stream);
  }

  async #initialize(protocolVersion: number): Promise<void> {
    const { startTimeoutMs = usualStartTimeoutMs, program } = this.#options;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new AppError('unavailable', noAnswerText(program.title, startTimeoutMs / 1_000)));
    }, startTimeoutMs);
    const request: InitializeRequest = {
      protocolVersion,
      clientInfo: { name: 'belay', title: 'Belay', version: belayVersion },
      // Neither files nor terminals: programs have those of the sandbox.
      clientCapabilities: { elicitation: { form: {} }, _meta: { terminal_output: true } },
    };
    const answer = this.#ask((agent) => agent.request(this.#methods.agent.initialize, request));
    try {
      this.#initialized = await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
      answer.catch(() => undefined);
    }
  }

  async #continue(
    sessionId: string,
    request: NewSessionRequest,
  ): Promise<Opened | { fault: string }> {
    const { session } = this.#methods.agent;
    const { agentCapabilities: can } = this.#initialized ?? {};
    this.#session = sessionId;
    try {
      if (can?.sessionCapabilities?.resume) {
        const given = await this.#ask((agent) =>
          agent.request(session.resume, { sessionId, ...request }),
        );
        return { id: sessionId, ...settingsIn(given) };
      }
      if (!can?.loadSession) return { fault: 'it cannot continue one' };
      this.#replays = true;
      const given = await this.#ask((agent) =>
        agent.request(session.load, { sessionId, ...request }),
      );
      return { id: sessionId, ...settingsIn(given ?? {}) };
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
    await this.#ask((agent) =>
      agent.request(this.#methods.agent.authenticate, { methodId: known.id }),
    ).catch(() => {
      throw new AppError('unavailable', loginText(title));
    });
  }

  /** A text of the program without the token that it was given. */
  #plain(text: string): string {
    return text.replaceAll(this.#options.program.token, '•••');
  }

  #reported(thrown: unknown): AppError {
    const { data } = answered.safeParse(thrown);
    if (!data) return errorFrom(thrown);
    const { title } = this.#options.program;
    if (data.code === authRequired)
      return new AppError('model_failed', loginText(title), { acp: data.code });
    const message = `${title} failed: ${this.#plain(excerpt(data.data ?? data.message))}`;
    return new AppError('model_failed', message, { acp: data.code });
  }

  /** Calls the program; rejects with the sentence about its end if it ends meanwhile. */
  async #ask<T>(call: (agent: ClientConnection['agent']) => Promise<T>): Promise<T> {
    const ended = this.#process.ended.then(async () => {
      throw await this.ended;
    });
    // One of the two may reject after the other has won.
    ended.catch(() => undefined);
    const answer = call(this.#connection.agent).catch(async (thrown: unknown) => {
      // The connection closes a moment before the program has ended.
      if (this.#connection.signal.aborted) return ended;
      throw this.#reported(thrown);
    });
    const result = await Promise.race([answer, ended]);
    // Updates that came before the answer are handled before it counts.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return result;
  }
}

const settingsIn = ({
  modes,
  configOptions,
}: Pick<NewSessionResponse, 'modes' | 'configOptions'>): Pick<
  NewSessionResponse,
  'modes' | 'configOptions'
> => ({ ...(modes && { modes }), ...(configOptions && { configOptions }) });

/** The error that a program answers with; the sentence in its data says more than its message. */
const answered = z.object({
  code: z.number(),
  message: z.string(),
  data: z
    .union([
      z.string(),
      z.object({ message: z.string() }).transform(({ message }) => message),
      z.object({ details: z.string() }).transform(({ details }) => details),
    ])
    .optional()
    .catch(undefined),
});

const wantsLogin = (thrown: unknown): boolean =>
  errorFrom(thrown).details?.['acp'] === authRequired;
