import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import {
  errorFrom,
  ignoreError,
  newEvent,
  type AgentProgram,
  type EventArgs,
} from '@belay/protocol';
import type { DriverOptions } from '../agent-driver.js';
import { OperationsServer } from '../operations-server.js';
import { ProgramCalls } from '../program-calls.js';
import { SessionProgram } from '../session-program.js';
import type { UserQuestions } from '../user-questions.js';
import type { AcpListener } from './acp-listener.js';
import { AcpProgram, type Opened } from './acp-program.js';
import {
  choiceOfModel,
  modesOption,
  commandsOffered,
  offeredOptions,
  type OfferedSettings,
} from './offered-settings.js';
import { askFields } from './ask-fields.js';
import type { HeldToolCall } from './held-calls.js';
import { isOwnTool } from './own-tool.js';
import { cancelledPermission, decidePermission } from './permission.js';
import type { ReportedCall } from './tool-call.js';
import type { TurnRecorder } from './turn-recorder.js';

export interface AcpConversationOptions extends DriverOptions {
  program: AgentProgram;
  questions: UserQuestions;
  startTimeoutMs: number;
  /** The turn in progress. */
  turn(): { recorder: TurnRecorder; signal: AbortSignal } | undefined;
  heldCall(call: ReportedCall): HeldToolCall | undefined;
  /** Resolves when viewers were shown all that the program has said. */
  shown(): Promise<void>;
}

/** The program and its open conversation; both are started when they are needed, and again after an end. */
export class AcpConversation {
  readonly #options: AcpConversationOptions;
  #started: Promise<AcpProgram> | undefined;
  #acp: AcpProgram | undefined;
  #opened: Opened | undefined;
  #settings: OfferedSettings = { options: [], commands: [] };
  #told = JSON.stringify(this.#settings);
  /** When the program last said something, in milliseconds. */
  #lastMessageAt = performance.now();
  /** What the program asked and has no answer to yet, and whether what it said is still to be dealt with. */
  #asked = 0;
  /** What it sent is not valid, as a sentence that the user is yet to be told. */
  #fault: string | undefined;
  readonly #program: SessionProgram;
  readonly #calls: ProgramCalls;
  #server: Promise<OperationsServer> | undefined;
  cwd = '';

  constructor(options: AcpConversationOptions) {
    this.#options = options;
    this.#program = new SessionProgram(options);
    this.#calls = new ProgramCalls(options, options.questions);
  }

  /** Whether the user has chosen another model than the one that the program was started for. */
  get isOutdated(): boolean {
    return this.#program.isOutdated;
  }

  /**
   * The program with this conversation, or with a new one if it is null or cannot be continued; started again if it is
   * outdated. Rejects with `unavailable` and a sentence.
   */
  async open(conversation: string | null): Promise<{ acp: AcpProgram; opened: Opened }> {
    if (this.isOutdated) await this.end();
    const acp = await (this.#started ??= this.#start());
    this.#lastMessageAt = performance.now();
    if (this.#opened && this.#opened.id === conversation) return { acp, opened: this.#opened };
    const opened = await acp
      .open(conversation, (begun) => this.#prepare(begun))
      .catch(async (thrown: unknown) => {
        if (acp.isEnding) await this.end();
        throw thrown;
      });
    // The fault belongs to this opening alone.
    const { fault: _, ...known } = opened;
    this.#opened = known;
    return { acp, opened };
  }

  async #prepare(opened: Opened): Promise<Opened> {
    this.#opened = opened;
    this.#settings = { ...this.#settings, options: offeredOptions(opened) };
    this.#tellSettings();
    const { agentOptions } = this.#options.log.conversation;
    await this.choose({ model: this.#program.model, agentOptions });
    return opened;
  }

  /** How long the program has been silent, in milliseconds; 0 while it waits for an answer. */
  idleMs(): number {
    return this.#asked > 0 ? 0 : performance.now() - this.#lastMessageAt;
  }

  /** Tells the user once, in a turn, that the program sends what is not valid. */
  tellFault(): void {
    const { turn, writer, program } = this.#options;
    if (this.#fault === undefined || !turn()) return;
    const tell = (why: string | null, message: string) =>
      writer.append(newEvent('agent', 'attention', { args: { why }, message }));
    tell(this.#fault, this.#fault);
    tell(null, `${program.title} goes on.`);
    this.#fault = undefined;
  }

  /** Asks the program to end its turn; if it has not after this time, ends the program. */
  async cancel(timeoutMs: number, ended: AbortSignal): Promise<void> {
    const acp = await this.#started?.catch(ignoreError('there is nothing to cancel'));
    if (!acp) return;
    await acp.cancel().catch(ignoreError('the program has ended'));
    await sleep(timeoutMs, undefined, { signal: ended }).catch(ignoreError('the turn has ended'));
    if (!ended.aborted) await this.end();
  }

  /**
   * Passes a change of settings on to the program, as far as it offers them. False if the program goes on calling
   * another model than the one in the change.
   */
  async choose({ model, agentOptions = {} }: Partial<EventArgs<'change'>>): Promise<boolean> {
    this.#program.model = model ?? this.#program.model;
    const named = model === undefined ? undefined : choiceOfModel(this.#settings.options, model);
    const calls = named ? await this.#chooseOne(named) : model === undefined || !this.isOutdated;
    for (const [id, value] of Object.entries(agentOptions)) await this.#chooseOne({ id, value });
    return calls;
  }

  isOwnTool(call: ToolCallUpdate): boolean {
    return isOwnTool(call, new Set(this.#calls.tools().map(({ name }) => name)));
  }

  /** Ends the program and what it is served. */
  async close(): Promise<void> {
    await this.end();
    await (await this.#server)?.close();
  }

  /** Ends the program. */
  async end(): Promise<void> {
    const acp = await this.#started?.catch(ignoreError('it did not start'));
    this.#started = undefined;
    this.#opened = undefined;
    await acp?.end();
  }

  async #start(): Promise<AcpProgram> {
    const { services, log, startTimeoutMs } = this.#options;
    const { workspace: cwd, env } = (await services).environment();
    this.cwd = cwd;
    this.#lastMessageAt = performance.now();
    const listener: AcpListener = {
      update: (update) => this.#update(update),
      requestPermission: (request) => this.#answering(() => this.#permit(request)),
      elicit: (request) => this.#answering(() => this.#elicit(request)),
      received: () => {
        this.#lastMessageAt = performance.now();
      },
      taken: () => this.#answering(() => this.#dealtWith()),
      sentInvalid: (why) => {
        this.#fault = why;
        this.tellFault();
      },
    };
    const { trusted } = log.conversation;
    const options = { trusted, cwd, env, listener, startTimeoutMs };
    try {
      const program = await this.#program.current();
      const { command } = await (this.#server ??= this.#serve());
      const mcpServers = [{ ...command, env: [] }];
      const acp = await AcpProgram.start({ ...options, program, mcpServers });
      this.#acp = acp;
      // A later one may have been started by then.
      void acp.ended.then(() => this.#acp === acp && this.#forget());
      return acp;
    } catch (thrown) {
      this.#forget();
      throw thrown;
    }
  }

  #serve(): Promise<OperationsServer> {
    const { connection, turn } = this.#options;
    return OperationsServer.start({
      calls: this.#calls,
      connection,
      turn: () => turn()?.signal,
    });
  }

  #forget(): void {
    this.#started = undefined;
    this.#opened = undefined;
  }

  async #answering<T>(answer: () => Promise<T>): Promise<T> {
    this.#asked += 1;
    try {
      return await answer();
    } finally {
      this.#asked -= 1;
      this.#lastMessageAt = performance.now();
    }
  }

  /** Resolves when all that the program has said is stored and shown, and all that it changed is in the history. */
  async #dealtWith(): Promise<void> {
    const { writer, recorded, shown } = this.#options;
    await Promise.all([writer.flush(), shown(), recorded()]).catch(
      ignoreError('nothing is stored any more, and its answers still count'),
    );
  }

  #update(update: SessionUpdate): void {
    const { options } = this.#settings;
    if (update.sessionUpdate === 'config_option_update')
      this.#settings.options = offeredOptions({
        configOptions: update.configOptions,
        modes: null,
      });
    else if (update.sessionUpdate === 'current_mode_update')
      this.#settings.options = options.map((option) =>
        option.id === modesOption ? { ...option, value: update.currentModeId } : option,
      );
    else if (update.sessionUpdate === 'available_commands_update')
      this.#settings.commands = commandsOffered(update.availableCommands);
    else return this.#options.turn()?.recorder.update(update);
    this.#tellSettings();
  }

  async #permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const turn = this.#options.turn();
    const isOwn = (call: ToolCallUpdate) => this.isOwnTool(call);
    return turn
      ? decidePermission(request, { ...this.#options, ...turn, isOwnTool: isOwn })
      : cancelledPermission;
  }

  async #elicit(request: CreateElicitationRequest): Promise<CreateElicitationResponse> {
    const turn = this.#options.turn();
    return turn ? askFields(request, this.#options.questions, turn.signal) : { action: 'cancel' };
  }

  /** Whether the option has this value now. */
  async #chooseOne(choice: { id: string; value: string }): Promise<boolean> {
    const option = this.#settings.options.find(({ id }) => id === choice.id);
    if (!option?.choices.some(({ value }) => value === choice.value)) return false;
    if (option.value === choice.value) return true;
    const acp = await this.#started?.catch(ignoreError('it is set when the program starts'));
    const isBoolean = option.choices.every(({ value }) => value === 'true' || value === 'false');
    try {
      const now = await acp?.choose(choice, isBoolean);
      if (now?.configOptions)
        this.#settings.options = offeredOptions({ configOptions: now.configOptions, modes: null });
      else option.value = choice.value;
      this.#tellSettings();
      return true;
    } catch (thrown) {
      // Who waits for the program is told, and its next start sets it.
      if (acp?.isEnding) return false;
      this.#writeSettings(`${option.name} could not be changed: ${errorFrom(thrown).message}`);
      return false;
    }
  }

  #tellSettings(): void {
    const told = JSON.stringify(this.#settings);
    if (told === this.#told) return;
    this.#told = told;
    this.#writeSettings('The agent’s settings changed.');
  }

  #writeSettings(message: string): void {
    const args = { change: 'settings', ...this.#settings } as const;
    this.#options.writer.append(newEvent('agent', 'turn', { args, message }));
  }
}
