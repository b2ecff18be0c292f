import { methods, type AgentContext, type StopReason } from '@agentclientprotocol/sdk';
import {
  calledOperation,
  ignoreError,
  isCall,
  isEnded,
  isEvent,
  isStarted,
  type Event,
  type EventAction,
  type EventArgs,
} from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { AcpServices } from './acp-services.js';
import { AcpUpdates, isResult, messageChunk, replyChunk } from './acp-updates.js';
import { askPermission } from './ask-permission.js';
import { hunksOf } from './file-hunks.js';
import { RunningCalls } from './running-calls.js';
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
  /** Called when a setting that the editor shows has changed. */
  onChange(): Promise<void>;
}

/** Shows the editor what happens from a prompt until the session rests. */
export class AcpTurn {
  readonly #updates: AcpUpdates;
  readonly #reply: StreamedReply;
  readonly #running: RunningCalls;

  constructor(
    private readonly services: AcpServices,
    private readonly of: TurnOf,
  ) {
    this.#updates = new AcpUpdates(of.folder);
    this.#reply = new StreamedReply((kind, text) => this.#send([replyChunk(kind, text)]));
    this.#running = new RunningCalls((call, text) => this.#send(this.#updates.running(call, text)));
  }

  /** Shows what happens after the event `after`, until the turn is over. */
  async follow(after: number): Promise<StopReason> {
    const unfollow = this.services.live.follow(this.of.session, {
      reply: (kind, text) => this.#reply.add(kind, text),
      output: (call, text) => this.#running.output(call, text),
      terminal: (name, bytes) => this.#running.terminal(name, bytes),
    });
    try {
      return await this.#untilOver(after);
    } finally {
      unfollow();
      this.#running.endAll();
    }
  }

  async #untilOver(after: number): Promise<StopReason> {
    const { session, signal } = this.of;
    for await (const events of this.services.feed.follow(session, { after }, signal)) {
      for (const event of events) {
        await this.#show(event);
        const over = isEvent(event, 'state') && (await this.#endOf(event.args));
        if (!over) continue;
        this.#running.endAll();
        if (isEnded(event.args.state)) await this.#send(this.#updates.ended());
        return over;
      }
    }
    return 'cancelled';
  }

  async #show(event: Event): Promise<void> {
    if (isEvent(event, 'say')) await this.#reply.end(event.args);
    else if (!usersWords.has(event.action)) await this.#showCalls(event);
    if (isEvent(event, 'commit') && event.id) await this.#showChanges(event.args, event.id);
    if (isEvent(event, 'change') && (event.args.approvals ?? event.args.model))
      await this.of.onChange();
    if (isEvent(event, 'approval') && event.args.mode === 'ask') void this.#ask(event.args);
  }

  async #showCalls(event: Event): Promise<void> {
    const { id, action, args } = event;
    if (id !== undefined) {
      if (isResult(event)) {
        if (!isStarted(event.args)) this.#running.end(id);
      } else if (isCall(action)) this.#running.begin(id, terminalIn(action, args));
    }
    await this.#send(
      await updatesOf(event, this.#updates, { session: this.of.session, services: this.services }),
    );
  }

  async #showChanges({ commit, parent }: EventArgs<'commit'>, id: string): Promise<void> {
    if (parent === null) return;
    const { session, caller, signal } = this.of;
    const input = { session, from: parent, to: commit };
    const output = await this.services.commands
      .call(caller, { name: 'workspace.diff', input, signal })
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
  async #ask(asked: EventArgs<'approval'>): Promise<void> {
    const { session, caller, client, connection: signal } = this.of;
    try {
      const answer = await askPermission(client, { session, asked, signal });
      if (!answer) return;
      const input = { session, id: asked.id, ...answer };
      await this.services.commands.call(caller, { name: 'answer', input, signal });
    } catch {
      // The question stays open; the dashboard shows it, too.
    }
  }

  #send(updates: ReturnType<AcpUpdates['of']>): Promise<void> {
    return sendUpdates(this.of.client, this.of.session, updates);
  }
}

/** The terminal whose output is that of a call; undefined for calls that run in none. */
function terminalIn(action: string, args: Event['args']): string | undefined {
  const operation = calledOperation(action);
  if (operation?.display !== 'command' && operation?.display !== 'terminal') return undefined;
  const { terminal } = Object(operation.input.safeParse(args).data) as { terminal?: string };
  return terminal;
}

/** The updates of one event, with the pictures and sounds of a result. */
export async function updatesOf(
  event: Event,
  updates: AcpUpdates,
  { session, services }: { session: string; services: Pick<AcpServices, 'content'> },
): Promise<ReturnType<AcpUpdates['of']>> {
  if (!isResult(event)) return updates.of(event);
  return updates.of(event, await services.content.ofResult(session, event.args));
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
