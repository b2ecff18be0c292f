import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type CloseSessionResponse,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  type PromptRequest,
  type PromptResponse,
  type ResumeSessionRequest,
  type SetSessionConfigOptionResponse,
  type Stream,
} from '@agentclientprotocol/sdk';
import { Logger } from '@nestjs/common';
import {
  AppError,
  belayVersion,
  isEnded,
  type CommandOutput,
  type SessionCommandName,
} from '@belay/protocol';
import { z } from 'zod';
import { assertMay, assertMayBegin, type Caller } from '../../access/caller.js';
import { newSessionId } from '../../sessions/session-creation.js';
import { sentError } from '../problem.js';
import { chosenConfig, modeOption, type SessionConfig, type ShownConfig } from './acp-config.js';
import type { AcpServices } from './acp-services.js';
import { AcpTurn, sendUpdates, updatesOf } from './acp-turn.js';
import { AcpUpdates } from './acp-updates.js';

const maxOpened = 50;
/** Sessions that an editor is offered to continue. */
const maxListed = 500;
/** Sessions have no folder on the editor’s side; `belay acp` replaces this one by the folder that it knows. */
const sandboxFolder = '/workspace';

/** A prompt in progress. */
interface Turn {
  ended: AbortController;
  isCancelled: boolean;
}

/** A session that this connection has opened; it begins with its first prompt. */
interface OpenedSession {
  folder: string;
  config: SessionConfig;
  hasBegun: boolean;
  turn: Turn | undefined;
}

/** Extra fields that `belay acp` and tests add to a request. */
const meta = z.object({
  belay: z.object({ workspace: z.string().optional(), model: z.string().optional() }),
});
const metaOf = (given: unknown) => meta.safeParse(given).data?.belay ?? {};

const initialized: InitializeResponse = {
  protocolVersion: PROTOCOL_VERSION,
  agentInfo: { name: 'belay', title: 'Belay', version: belayVersion },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, embeddedContext: true },
    sessionCapabilities: { list: {}, resume: {}, close: {} },
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
      .onRequest(session.list, ({ params }) => asRpcErrors(() => this.#list(params)))
      .onRequest(session.load, ({ params, client }) =>
        asRpcErrors(() => this.#load(params, client)),
      )
      .onRequest(session.resume, ({ params }) =>
        asRpcErrors(async () => (await this.#reopen(params)).shown),
      )
      .onRequest(session.close, ({ params }) => asRpcErrors(() => this.#close(params.sessionId)))
      .onRequest(session.setMode, ({ params: { sessionId, modeId: value } }) =>
        asRpcErrors(() => this.#configure(sessionId, chosenConfig(modeOption, value))),
      )
      .onRequest(session.setConfigOption, ({ params: { sessionId, configId, value } }) =>
        asRpcErrors(() => this.#configure(sessionId, chosenConfig(configId, value))),
      )
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

  async #new({ cwd: folder, _meta }: NewSessionRequest): Promise<NewSessionResponse> {
    assertMayBegin(this.caller);
    const sessionId = newSessionId();
    const usual = await this.services.config.usual();
    const config = { ...usual, model: metaOf(_meta).model ?? usual.model };
    this.#open(sessionId, { folder, config, hasBegun: false });
    return { sessionId, ...(await this.services.config.shown(config, this.caller)) };
  }

  async #list({ cwd }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions } = await this.#call('list', { limit: maxListed });
    return {
      sessions: sessions.map(({ id, title, updated }) => ({
        sessionId: id,
        cwd: cwd ?? sandboxFolder,
        title,
        updatedAt: updated,
      })),
    };
  }

  /** Opens an earlier session without its history. */
  async #reopen({ sessionId: session, cwd: folder }: ResumeSessionRequest) {
    const summary = await this.#call('status', { session });
    const { approvals, model } = summary;
    const config = { approvals, model };
    this.#open(session, { folder, config, hasBegun: true });
    return { summary, shown: await this.services.config.shown(config, this.caller) };
  }

  async #load(request: LoadSessionRequest, client: AgentContext): Promise<ShownConfig> {
    const { sessionId: session, cwd: folder } = request;
    const { summary, shown } = await this.#reopen(request);
    const { lastSeq, state } = summary;
    const updates = new AcpUpdates(folder);
    const pages = this.services.feed.follow(session, { after: 0 }, this.#closed.signal);
    for await (const events of pages) {
      for (const event of events) {
        const sent = await updatesOf(event, updates, { session, services: this.services });
        await sendUpdates(client, session, sent);
      }
      if ((events.at(-1)?.seq ?? 0) >= lastSeq) break;
    }
    if (isEnded(state)) await sendUpdates(client, session, updates.ended());
    return shown;
  }

  /** As `session/cancel`; then the connection forgets the session. */
  async #close(session: string): Promise<CloseSessionResponse> {
    this.#known(session);
    await this.#cancel(session);
    this.#opened.delete(session);
    return {};
  }

  /** Before the first prompt, a choice is remembered for the session that the prompt begins. */
  async #configure(
    session: string,
    change: Partial<SessionConfig>,
  ): Promise<SetSessionConfigOptionResponse> {
    const opened = this.#known(session);
    if (opened.hasBegun) await this.#call('change', { session, ...change });
    else assertMay(this.caller, 'operate');
    opened.config = { ...opened.config, ...change };
    const { configOptions } = await this.services.config.shown(opened.config, this.caller);
    return { configOptions };
  }

  /** Settings that the dashboard, for example, has changed. */
  async #showChanges(session: string, client: AgentContext): Promise<void> {
    const { approvals, model } = await this.#call('status', { session });
    const config = { approvals, model };
    const opened = this.#opened.get(session);
    if (opened) opened.config = config;
    const { configOptions } = await this.services.config.shown(config, this.caller);
    await sendUpdates(client, session, [
      { sessionUpdate: 'current_mode_update', currentModeId: approvals },
      { sessionUpdate: 'config_option_update', configOptions },
    ]);
  }

  async #prompt(request: PromptRequest, client: AgentContext): Promise<PromptResponse> {
    const { caller, services } = this;
    const session = request.sessionId;
    const opened = this.#known(session);
    if (opened.turn)
      throw new AppError('conflict', 'A prompt is already running. Cancel it first.');
    const turn: Turn = (opened.turn = { ended: new AbortController(), isCancelled: false });
    const connection = this.#closed.signal;
    const signal = AbortSignal.any([connection, turn.ended.signal]);
    try {
      const after = await this.#send(opened, request);
      // What was cancelled while it was sent would otherwise run.
      if (turn.isCancelled) await this.#call('stop', { session });
      const { folder } = opened;
      const onChange = () => this.#showChanges(session, client);
      const of = { session, folder, caller, client, signal, connection, onChange };
      return { stopReason: await new AcpTurn(services, of).follow(after) };
    } finally {
      opened.turn = undefined;
    }
  }

  /**
   * Sends the prompt, which begins the session or is a message in it. Returns the number of the last event before it.
   */
  async #send(
    opened: OpenedSession,
    { sessionId: session, prompt, _meta }: PromptRequest,
  ): Promise<number> {
    const { text, images } = await this.services.content.ofPrompt(prompt, this.caller);
    if (opened.hasBegun) {
      const { lastSeq } = await this.#call('status', { session });
      await this.#call('message', { session, text, images, delivery: 'steer' });
      return lastSeq;
    }
    const { workspace } = metaOf(_meta);
    const wanted = { task: text, images, workspace, ...opened.config };
    await this.#call('start', JSON.parse(JSON.stringify(wanted)) as object, session);
    opened.hasBegun = true;
    return 0;
  }

  async #cancel(session: string): Promise<void> {
    const { turn, hasBegun } = this.#opened.get(session) ?? {};
    if (!turn) return;
    turn.isCancelled = true;
    if (hasBegun) await this.#call('stop', { session }).catch(() => turn.ended.abort());
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

  #open(session: string, opened: Omit<OpenedSession, 'turn'>): void {
    const known = this.#opened.get(session);
    if (!known && this.#opened.size >= maxOpened)
      throw new AppError(
        'limit_reached',
        `${maxOpened} sessions are open. Close one first, with session/close.`,
      );
    // The same object, because a running turn clears itself there.
    this.#opened.set(session, Object.assign(known ?? { turn: undefined }, opened));
  }
}

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
