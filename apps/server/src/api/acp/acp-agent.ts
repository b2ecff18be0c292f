import {
  agent,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
  type PromptRequest,
  type SessionModeState,
  type StopReason,
  type Stream,
} from '@agentclientprotocol/sdk';
import {
  AppError,
  approvalMode,
  ignoreError,
  isEnded,
  isEvent,
  type ApprovalMode,
  type Event,
  type EventAction,
  type EventArgs,
} from '@belay/protocol';
import { z } from 'zod';
import { assertMay, type Caller } from '../../access/caller.js';
import type { LiveNotices } from '../../logs/live.js';
import { newSessionId } from '../../sessions/session-creation.js';
import { knownError, unexpected } from '../problem.js';
import type { AcpParts } from './acp-parts.js';
import { AcpUpdates, hunksOf, said, spoken } from './acp-updates.js';
import { StreamedReply } from './streamed-reply.js';

const maxOpened = 50;

/** A session that this connection has opened; it begins with its first prompt. */
interface Opened {
  folder: string;
  mode: ApprovalMode | undefined;
  begun: boolean;
  /** Ends the turn that is under way. */
  turn: AbortController | undefined;
}

/** What `belay acp` and tests add to a request. */
const meta = z.object({
  belay: z.object({ workspace: z.string().optional(), model: z.string().optional() }),
});

/** What users write, which the editor that follows has already. */
const usersWords: ReadonlySet<string> = new Set<EventAction>([
  'start',
  'message',
  'edit',
  'withdraw',
]);

const modeTitles: Readonly<Record<string, string>> = {
  safe: 'Ask before every action',
  ask: 'Ask before commands',
  delay: 'Run after two seconds',
  auto: 'Run at once',
};

/** Serves ACP to one editor until its stream ends. What it may do is what its caller may. */
export function serveAcp(stream: Stream, caller: Caller, parts: AcpParts): { close: () => void } {
  const opened = new Map<string, Opened>();
  const closed = new AbortController();
  const call = (name: string, input: object, id?: string) =>
    parts.commands.call(caller, { name, input, signal: closed.signal, ...(id && { id }) });
  const known = (session: string): Opened => {
    const found = opened.get(session);
    if (found) return found;
    throw new AppError('not_found', `Open the session ${session} first, with session/load.`);
  };
  const open = (session: string, state: Omit<Opened, 'turn'>): void => {
    if (opened.size >= maxOpened)
      throw new AppError('limit_reached', 'Too many sessions are open.');
    opened.set(session, { ...state, turn: undefined });
  };

  const connection = agent({ name: 'belay' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'belay', title: 'Belay', version: '0.1.0' },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params }) =>
      answered(() => {
        assertMay(caller, 'operate');
        const session = newSessionId();
        open(session, { folder: params.cwd, mode: undefined, begun: false });
        return { sessionId: session, modes: modesOf('ask') };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params, client }) =>
      answered(async () => {
        const { sessionId: session, cwd: folder } = params;
        assertMay(caller, 'view', session);
        const summary = await parts.sessions.summary(session);
        open(session, { folder, mode: undefined, begun: true });
        const updates = new AcpUpdates(folder);
        for await (const events of parts.feed.follow(session, { after: 0 }, closed.signal)) {
          for (const event of events) await send(client, session, updates.of(event));
          if ((events.at(-1)?.seq ?? 0) >= summary.lastSeq) break;
        }
        return { modes: modesOf(summary.approvals) };
      }),
    )
    .onRequest(methods.agent.session.setMode, ({ params }) =>
      answered(async () => {
        const mode = approvalMode.safeParse(params.modeId).data;
        if (!mode) throw new AppError('invalid_input', `There is no mode ${params.modeId}.`);
        const state = known(params.sessionId);
        assertMay(caller, 'operate', state.begun ? params.sessionId : undefined);
        state.mode = mode;
        if (state.begun) await parts.sessions.change(params.sessionId, { approvals: mode });
        return {};
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      answered(async () => {
        const { sessionId: session } = params;
        const state = known(session);
        if (state.turn) throw new AppError('conflict', 'A prompt is under way: cancel it first.');
        state.turn = new AbortController();
        try {
          const after = await begin(session, state, params);
          return { stopReason: await follow(client, { session, state, after }) };
        } finally {
          state.turn = undefined;
        }
      }),
    )
    .onNotification(methods.agent.session.cancel, async ({ params }) => {
      const state = opened.get(params.sessionId);
      if (!state?.turn || !state.begun) return;
      await call('stop', { session: params.sessionId }).catch(() => state.turn?.abort());
    })
    .connect(stream);
  const close = (): void => {
    closed.abort();
    connection.close();
  };
  void connection.closed.then(() => closed.abort());
  return { close };

  /** Sends the prompt: it begins the session, or is a message. Returns the number of the last event before it. */
  async function begin(session: string, state: Opened, params: PromptRequest): Promise<number> {
    const { text, images } = await contentOf(params.prompt);
    if (state.begun) {
      const { lastSeq } = await parts.sessions.summary(session);
      await call('message', { session, text, images, delivery: 'steer' });
      return lastSeq;
    }
    const { workspace, model } = meta.safeParse(params._meta).data?.belay ?? {};
    const approvals = state.mode;
    const wanted = { task: text, images, workspace, model, approvals };
    await call('start', JSON.parse(JSON.stringify(wanted)) as object, session);
    state.begun = true;
    return 0;
  }

  /** Shows what happens until the turn is over. */
  async function follow(
    client: AgentContext,
    { session, state, after }: { session: string; state: Opened; after: number },
  ): Promise<StopReason> {
    const signal = AbortSignal.any([closed.signal, state.turn?.signal ?? closed.signal]);
    const updates = new AcpUpdates(state.folder);
    const reply = new StreamedReply((kind, text) => send(client, session, [spoken(kind, text)]));
    const onDelta = (delta: LiveNotices['delta'][0]): void => {
      if (delta.session === session) reply.add(delta.kind, delta.text);
    };
    parts.live.on('delta', onDelta);
    try {
      return await untilOver();
    } finally {
      parts.live.off('delta', onDelta);
    }

    async function untilOver(): Promise<StopReason> {
      for await (const events of parts.feed.follow(session, { after }, signal)) {
        for (const event of events) {
          // The user’s own words are in the editor already.
          const isOwn = usersWords.has(event.action);
          if (isEvent(event, 'say')) await reply.end(event.args);
          else if (!isOwn) await send(client, session, updates.of(event));
          if (isEvent(event, 'commit') && event.id) await showChanges(event, event.id);
          if (isEvent(event, 'approval') && event.args.mode === 'ask')
            void ask(client, session, event.args);
          const over = isEvent(event, 'state') && (await endOf(event.args));
          if (over) return over;
        }
      }
      return 'cancelled';
    }

    async function showChanges(event: Event & { args: EventArgs<'commit'> }, id: string) {
      const { commit, parent } = event.args;
      if (parent === null) return;
      const input = { from: parent, to: commit };
      const output = await parts.dispatcher
        .call(session, { name: 'workspace.diff', input, caller }, signal)
        .catch(ignoreError('then the editor shows the call without its diff'));
      if (output) await send(client, session, updates.diffs(id, hunksOf(output.diff)));
    }

    async function endOf(args: EventArgs<'state'>): Promise<StopReason | undefined> {
      const { state: now, reason } = args;
      if (now === 'stopped') return 'cancelled';
      if (now === 'limited') return 'max_turn_requests';
      if (now === 'failed' && reason) {
        await send(client, session, [said('agent_message_chunk', reason)]);
      }
      if (isEnded(now)) return 'end_turn';
      const summary = await parts.sessions.summary(session);
      return now === 'waiting' && summary.question !== null ? 'end_turn' : undefined;
    }
  }

  /** Asks the editor’s user; who answers elsewhere first is as good. */
  async function ask(client: AgentContext, session: string, request: EventArgs<'approval'>) {
    const { id, operation, subject, input } = request;
    try {
      const { outcome } = await client.request(
        methods.client.session.requestPermission,
        {
          sessionId: session,
          toolCall: {
            toolCallId: id,
            title: `${operation} ${subject}`.slice(0, 2_000),
            rawInput: input,
          },
          options: [
            { optionId: 'approved', name: 'Allow', kind: 'allow_once' },
            { optionId: 'rejected', name: 'Reject', kind: 'reject_once' },
          ],
        },
        { cancellationSignal: closed.signal },
      );
      const verdict = outcome.outcome === 'selected' ? outcome.optionId : undefined;
      if (verdict === 'approved' || verdict === 'rejected')
        await call('answer', { session, id, verdict });
    } catch {
      // The question stays open: the dashboard has it, too.
    }
  }

  async function contentOf(blocks: PromptRequest['prompt']) {
    const texts: string[] = [];
    const images: string[] = [];
    for (const block of blocks) {
      if (block.type === 'text') texts.push(block.text);
      else if (block.type === 'resource_link') texts.push(`@${block.uri}`);
      else if (block.type === 'resource' && 'text' in block.resource) {
        texts.push(`${block.resource.uri}:\n${block.resource.text}`);
      } else if (block.type === 'image') {
        const bytes = Buffer.from(block.data, 'base64');
        images.push(await parts.pictures.upload(caller, bytes, block.mimeType));
      }
    }
    return { text: texts.join('\n') || 'See the picture.', images };
  }
}

async function send(
  client: AgentContext,
  sessionId: string,
  updates: ReturnType<AcpUpdates['of']>,
): Promise<void> {
  for (const update of updates) {
    await client.notify(methods.client.session.update, { sessionId, update });
  }
}

const modesOf = (current: ApprovalMode): SessionModeState => ({
  currentModeId: current,
  availableModes: approvalMode.options.map((id) => ({ id, name: modeTitles[id] ?? id })),
});

/** Errors of the platform as those of JSON-RPC, with our code. */
async function answered<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = knownError(error) ?? unexpected();
    const number = code === 'unauthorized' ? -32_000 : code === 'not_found' ? -32_002 : -32_602;
    throw new RequestError(number, message, { code });
  }
}
