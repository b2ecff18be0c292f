import { StringDecoder } from 'node:string_decoder';
import { terminalName, type AppError } from '@belay/protocol';
import { z } from 'zod';
import { unauthorized, type Caller } from '../../access/caller.js';
import type { FeedNotices, Follower, FollowedBytes } from '../../sessions/feed/follower.js';
import type { SessionFollowers } from '../../sessions/feed/session-followers.js';
import type { ApiSocket } from '../api-socket.js';
import { errorMessage, eventMessage, type SentMessage } from './socket-messages.js';

export const watchRequest = z.object({
  session: z.string().min(1).max(200),
  after: z.int().nonnegative().default(0).describe('The `seq` of the last event you have.'),
  terminals: z
    .union([z.boolean(), z.record(terminalName, z.int().nonnegative())])
    .refine((given) => Object.keys(given).length <= 1_000, 'at most 1,000')
    .default(false)
    .describe('Also what terminals print, as it comes, or from these offsets.'),
  deltas: z.boolean().default(false).describe('Also what is not in the log, as it comes.'),
});
export type WatchRequest = z.output<typeof watchRequest>;

/** Sessions that one connection may follow at once. */
export const maxSessions = 50;

interface Watched {
  deltas: boolean;
  terminals: Map<string, { end: number; decoder: StringDecoder }>;
  ended: boolean;
}

/**
 * A client of the plain WebSocket that follows sessions. Messages are sent one at a time, each when the previous one
 * was accepted.
 */
export class SocketFollower implements Follower {
  readonly #watched = new Map<string, Watched>();
  #underWay = 0;
  #last = Promise.resolve();

  constructor(
    private readonly socket: ApiSocket,
    /** Calls whose result is sent as a reply, and therefore not again as an event. */
    private readonly replied: Set<string>,
    private readonly followers: SessionFollowers<SocketFollower>,
  ) {}

  get caller(): Caller {
    const { caller } = this.socket;
    if (!caller) throw unauthorized();
    return caller;
  }

  get isOpen(): boolean {
    return this.socket.isOpen;
  }

  get isCongested(): boolean {
    return this.#underWay > 0;
  }

  async drained(): Promise<void> {
    while (this.isCongested) await this.#last;
  }

  /** Replaces an earlier watch of the same session. Throws errors meant for the client. */
  async watch({ session, after, terminals, deltas }: WatchRequest): Promise<void> {
    this.unwatch(session);
    this.#watched.set(session, { deltas, terminals: new Map(), ended: false });
    const from = typeof terminals === 'object' ? terminals : terminals ? 'now' : 'none';
    try {
      await this.followers.add(this, { session, after, terminals: from });
    } catch (error) {
      this.unwatch(session);
      throw error;
    }
  }

  unwatch(session: string): void {
    const watched = this.#watched.get(session);
    if (watched) watched.ended = true;
    this.#watched.delete(session);
    this.followers.remove(this, session);
  }

  close(): void {
    for (const session of this.#watched.keys()) this.unwatch(session);
    this.followers.remove(this);
  }

  send<N extends keyof FeedNotices>(name: N, notice: FeedNotices[N]): void {
    const watched = this.#watched.get(notice.session);
    if (!watched || (name !== 'events' && !watched.deltas)) return;
    void this.#enqueue(this.#messages[name](notice, watched));
  }

  sendBytes({ session, terminal, offset, bytes }: FollowedBytes): Promise<void> {
    const terminals = this.#watched.get(session)?.terminals;
    if (!terminals) return Promise.resolve();
    const known = terminals.get(terminal);
    // A character cut at the end of a piece is completed by the next one, unless the middle was skipped.
    const decoder = known?.end === offset ? known.decoder : new StringDecoder('utf8');
    terminals.set(terminal, { end: offset + bytes.length, decoder });
    const args = { terminal, offset, content: decoder.write(Buffer.from(bytes)) };
    return this.#enqueue([{ action: 'terminal', session, args, message: '' }]);
  }

  gone(session: string, error: AppError): void {
    this.#end(session, errorMessage(error));
  }

  failed(session: string, error: unknown): void {
    this.#end(session, errorMessage(error));
  }

  /** Sent after everything that is still pending for the session. */
  #end(session: string, message: SentMessage): void {
    this.#watched.delete(session);
    void this.#enqueue([{ ...message, session }]);
  }

  readonly #messages: {
    [N in keyof FeedNotices]: (notice: FeedNotices[N], watched: Watched) => Iterable<SentMessage>;
  } = {
    events: (notice, watched) => this.#eventMessages(notice, watched),
    delta: ({ session, ...args }) => [{ action: 'delta', session, args, message: '' }],
    output: ({ session, ...args }) => [{ action: 'printed', session, args, message: '' }],
    copied: ({ session, ...args }) => [{ action: 'copied', session, args, message: '' }],
  };

  *#eventMessages({ session, events }: FeedNotices['events'], watched: Watched) {
    for (const event of events) {
      if (watched.ended) return;
      const isReplied = event.action === 'result' && this.replied.delete(event.id ?? '');
      if (!isReplied) yield eventMessage(session, event);
    }
  }

  #enqueue(messages: Iterable<SentMessage>): Promise<void> {
    this.#underWay += 1;
    this.#last = this.#last.then(async () => {
      for (const message of messages) await this.socket.send(message);
      this.#underWay -= 1;
    });
    return this.#last;
  }
}
