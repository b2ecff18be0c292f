import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type InitializeResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  type PromptRequest,
  type PromptResponse,
  type SessionModeState,
  type SetSessionModeRequest,
  type Stream,
} from '@agentclientprotocol/sdk';
import { Logger } from '@nestjs/common';
import {
  AppError,
  approvalMode,
  approvalModes,
  belayVersion,
  type ApprovalMode,
  type CommandOutput,
  type SessionCommandName,
} from '@belay/protocol';
import { z } from 'zod';
import { assertMay, type Caller } from '../../access/caller.js';
import { newSessionId } from '../../sessions/session-creation.js';
import { sentError } from '../problem.js';
import { promptContent } from './prompt-content.js';
import type { AcpServices } from './acp-services.js';
import { AcpTurn, sendUpdates } from './acp-turn.js';
import { AcpUpdates } from './acp-updates.js';

const maxOpened = 50;

/** A session that this connection has opened; it begins with its first prompt. */
interface OpenedSession {
  folder: string;
  mode: ApprovalMode | undefined;
  hasBegun: boolean;
  /** Cancels the current turn. */
  turn: AbortController | undefined;
}

/** Extra fields that `belay acp` and tests add to a request. */
const meta = z.object({
  belay: z.object({ workspace: z.string().optional(), model: z.string().optional() }),
});

const initialized: InitializeResponse = {
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: 'belay', title: 'Belay', version: belayVersion },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
  },
  authMethods: [],
};

/** Serves ACP to one editor until its stream ends. Its rights are those of its caller. */
export class AcpConnection {
  readonly #opened = new Map<string, OpenedSession>();
  readonly #closed = new AbortController();
  readonly #connection: { close(): void; closed: Promise<unknown> };

  constructor(
    stream: Stream,
    private readonly caller: Caller,
    private readonly services: AcpServices,
  ) {
    const { session } = methods.agent;
    this.#connection = agent({ name: 'belay' })
      .onRequest(methods.agent.initialize, () => initialized)
      .onRequest(session.new, ({ params }) => asRpcErrors(() => this.#new(params)))
      .onRequest(session.load, ({ params, client }) =>
        asRpcErrors(() => this.#load(params, client)),
      )
      .onRequest(session.setMode, ({ params }) => asRpcErrors(() => this.#setMode(params)))
      .onRequest(session.prompt, ({ params, client }) =>
        asRpcErrors(() => this.#prompt(params, client)),
      )
      .onNotification(session.cancel, ({ params }) => this.#cancel(params.sessionId))
      .connect(stream);
    void this.#connection.closed.then(() => this.#closed.abort());
  }

  close(): void {
    this.#closed.abort();
    this.#connection.close();
  }

  #new({ cwd: folder }: NewSessionRequest): NewSessionResponse {
    assertMay(this.caller, 'operate');
    const sessionId = newSessionId();
    this.#open(sessionId, { folder, hasBegun: false });
    return { sessionId, modes: modesOf('ask') };
  }

  async #load({ sessionId: session, cwd: folder }: LoadSessionRequest, client: AgentContext) {
    const { lastSeq, approvals } = await this.#call('status', { session });
    this.#open(session, { folder, hasBegun: true });
    const updates = new AcpUpdates(folder);
    const pages = this.services.feed.follow(session, { after: 0 }, this.#closed.signal);
    for await (const events of pages) {
      for (const event of events) await sendUpdates(client, session, updates.of(event));
      if ((events.at(-1)?.seq ?? 0) >= lastSeq) break;
    }
    return { modes: modesOf(approvals) };
  }

  /** Before the first prompt, the mode is remembered for the session that the prompt begins. */
  async #setMode({ sessionId: session, modeId }: SetSessionModeRequest): Promise<object> {
    const mode = approvalMode.safeParse(modeId).data;
    if (!mode) throw new AppError('invalid_input', `There is no mode ${modeId}.`);
    const opened = this.#known(session);
    if (opened.hasBegun) await this.#call('change', { session, approvals: mode });
    else assertMay(this.caller, 'operate');
    opened.mode = mode;
    return {};
  }

  async #prompt(request: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const { caller, services } = this;
    const session = request.sessionId;
    const opened = this.#known(session);
    if (opened.turn)
      throw new AppError('conflict', 'A prompt is already running. Cancel it first.');
    const ended = (opened.turn = new AbortController());
    const connection = this.#closed.signal;
    const signal = AbortSignal.any([connection, ended.signal]);
    try {
      const after = await this.#send(session, opened, request);
      const { folder } = opened;
      const turn = new AcpTurn(services, { session, folder, caller, client, signal, connection });
      return { stopReason: await turn.follow(after) };
    } finally {
      opened.turn = undefined;
    }
  }

  /**
   * Sends the prompt, which begins the session or is a message in it. Returns the number of the last event before it.
   */
  async #send(
    session: string,
    opened: OpenedSession,
    { prompt, _meta }: PromptRequest,
  ): Promise<number> {
    const { text, images } = await promptContent(prompt, this.caller, this.services);
    if (opened.hasBegun) {
      const { lastSeq } = await this.#call('status', { session });
      await this.#call('message', { session, text, images, delivery: 'steer' });
      return lastSeq;
    }
    const { workspace, model } = meta.safeParse(_meta).data?.belay ?? {};
    const wanted = { task: text, images, workspace, model, approvals: opened.mode };
    await this.#call('start', JSON.parse(JSON.stringify(wanted)) as object, session);
    opened.hasBegun = true;
    return 0;
  }

  async #cancel(session: string): Promise<void> {
    const opened = this.#opened.get(session);
    if (!opened?.turn || !opened.hasBegun) return;
    await this.#call('stop', { session }).catch(() => opened.turn?.abort());
  }

  #call<N extends SessionCommandName>(
    name: N,
    input: object,
    id?: string,
  ): Promise<CommandOutput<N>> {
    const { signal } = this.#closed;
    return this.services.commands.call(this.caller, { name, input, signal, ...(id && { id }) });
  }

  #known(session: string): OpenedSession {
    const found = this.#opened.get(session);
    if (found) return found;
    throw new AppError('not_found', `Open the session ${session} first, with session/load.`);
  }

  #open(session: string, opened: Pick<OpenedSession, 'folder' | 'hasBegun'>): void {
    if (this.#opened.size >= maxOpened)
      throw new AppError('limit_reached', 'Too many sessions are open.');
    this.#opened.set(session, { ...opened, mode: undefined, turn: undefined });
  }
}

const modesOf = (current: ApprovalMode): SessionModeState => ({
  currentModeId: current,
  availableModes: approvalMode.options.map((id) => ({ id, name: approvalModes[id].label })),
});

const logger = new Logger('Acp');

/** Converts errors of the platform to JSON-RPC errors with our code. */
async function asRpcErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = sentError(error, logger);
    const number = code === 'unauthorized' ? -32_000 : code === 'not_found' ? -32_002 : -32_602;
    throw new RequestError(number, message, { code });
  }
}
