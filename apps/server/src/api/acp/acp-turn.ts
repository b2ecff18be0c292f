import {
  methods,
  type AgentContext,
  type RequestPermissionRequest,
  type StopReason,
} from '@agentclientprotocol/sdk';
import {
  ignoreError,
  isEnded,
  isEvent,
  type Event,
  type EventAction,
  type EventArgs,
} from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { TransientNoticeMap } from '../../logs/transient-notices.js';
import type { AcpServices } from './acp-services.js';
import { AcpUpdates, messageChunk, replyChunk } from './acp-updates.js';
import { hunksOf } from './file-hunks.js';
import { StreamedReply } from './streamed-reply.js';

/** What users write, which the editor has already. */
const usersWords: ReadonlySet<string> = new Set<EventAction>([
  'start',
  'message',
  'edit',
  'withdraw',
]);

interface TurnOf {
  session: string;
  /** The folder that holds the files on the editor’s side. */
  folder: string;
  caller: Caller;
  client: AgentContext;
  /** Aborted at the end of the turn. */
  signal: AbortSignal;
  /** Aborted at the end of the connection: a question outlives its turn. */
  connection: AbortSignal;
}

/** Shows the editor what happens from a prompt until the session rests. */
export class AcpTurn {
  readonly #updates: AcpUpdates;
  readonly #reply: StreamedReply;

  constructor(
    private readonly services: AcpServices,
    private readonly of: TurnOf,
  ) {
    this.#updates = new AcpUpdates(of.folder);
    this.#reply = new StreamedReply((kind, text) => this.#send([replyChunk(kind, text)]));
  }

  /** Shows what happens after the event `after`, until the turn is over. */
  async follow(after: number): Promise<StopReason> {
    const { live } = this.services;
    live.on('delta', this.#onDelta);
    try {
      return await this.#untilOver(after);
    } finally {
      live.off('delta', this.#onDelta);
    }
  }

  async #untilOver(after: number): Promise<StopReason> {
    const { session, signal } = this.of;
    for await (const events of this.services.feed.follow(session, { after }, signal)) {
      for (const event of events) {
        await this.#show(event);
        const over = isEvent(event, 'state') && (await this.#endOf(event.args));
        if (over) return over;
      }
    }
    return 'cancelled';
  }

  async #show(event: Event): Promise<void> {
    if (isEvent(event, 'say')) await this.#reply.end(event.args);
    else if (!usersWords.has(event.action)) await this.#send(this.#updates.of(event));
    if (isEvent(event, 'commit') && event.id) await this.#showChanges(event.args, event.id);
    if (isEvent(event, 'approval') && event.args.mode === 'ask') void this.#ask(event.args);
  }

  readonly #onDelta = ({ session, kind, text }: TransientNoticeMap['delta'][0]): void => {
    if (session === this.of.session) this.#reply.add(kind, text);
  };

  async #showChanges({ commit, parent }: EventArgs<'commit'>, id: string): Promise<void> {
    if (parent === null) return;
    const { session, caller, signal } = this.of;
    const input = { from: parent, to: commit };
    const output = await this.services.dispatcher
      .call(session, { name: 'workspace.diff', input, caller }, signal)
      .catch(ignoreError('then the editor shows the call without its diff'));
    if (output) await this.#send(this.#updates.diffs(id, hunksOf(output.diff)));
  }

  async #endOf({ state: now, reason }: EventArgs<'state'>): Promise<StopReason | undefined> {
    if (now === 'stopped') return 'cancelled';
    if (now === 'limited') return 'max_turn_requests';
    if (now === 'failed' && reason) await this.#send([messageChunk('agent_message_chunk', reason)]);
    if (isEnded(now)) return 'end_turn';
    const { session, caller } = this.of;
    if (now !== 'waiting') return undefined;
    const { question, modelError } = await this.services.commands.run(
      'status',
      { session },
      { caller },
    );
    if (question !== null) return 'end_turn';
    if (modelError?.retryAt !== null) return undefined;
    await this.#send([messageChunk('agent_message_chunk', modelError.message)]);
    return 'end_turn';
  }

  /** Asks the editor’s user; an earlier answer from elsewhere counts as well. */
  async #ask({ id, operation, subject, input }: EventArgs<'approval'>): Promise<void> {
    const { session, caller, client, connection: signal } = this.of;
    const request: RequestPermissionRequest = {
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
    };
    try {
      const { outcome } = await client.request(methods.client.session.requestPermission, request, {
        cancellationSignal: signal,
      });
      const verdict = outcome.outcome === 'selected' ? outcome.optionId : undefined;
      if (verdict !== 'approved' && verdict !== 'rejected') return;
      const answer = { session, id, verdict };
      await this.services.commands.call(caller, { name: 'answer', input: answer, signal });
    } catch {
      // The question stays open; the dashboard shows it, too.
    }
  }

  #send(updates: ReturnType<AcpUpdates['of']>): Promise<void> {
    return sendUpdates(this.of.client, this.of.session, updates);
  }
}

export async function sendUpdates(
  client: AgentContext,
  sessionId: string,
  updates: ReturnType<AcpUpdates['of']>,
): Promise<void> {
  for (const update of updates) {
    await client.notify(methods.client.session.update, { sessionId, update });
  }
}
