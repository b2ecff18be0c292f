import type { ViewerNotices } from '@belay/protocol';
import type { FeedRequest } from './feed-request.js';
import type { FeedNotices, Follower } from './follower.js';

type TerminalNotice = Parameters<ViewerNotices['terminal']>[0];

/** A session of another server as one follower follows it: what the follower has got of it so far. */
export class RemoteWatch {
  readonly session: string;
  /** Whether it was given up, so that nothing more of it is sent. */
  isClosed = false;
  #after: number;
  /** The offsets up to which the follower has the terminals. */
  readonly #offsets: Map<string, number>;
  /** What is asked for besides: `now` until it is known where that is. */
  #from: 'now' | 'none' | 'offsets';

  constructor(
    private readonly follower: Follower,
    { session, after, terminals }: FeedRequest,
  ) {
    this.session = session;
    this.#after = after;
    const isWord = typeof terminals === 'string';
    this.#from = isWord ? terminals : 'offsets';
    this.#offsets = new Map(isWord ? [] : Object.entries(terminals));
  }

  /** Asks for what the follower lacks. */
  get request(): FeedRequest {
    const { session } = this;
    const terminals = this.#from === 'offsets' ? Object.fromEntries(this.#offsets) : this.#from;
    return { session, after: this.#after, terminals };
  }

  /** The offsets where the terminals began that were to begin with what they print next. */
  begin(starts: Readonly<Record<string, number>>): void {
    if (this.#from !== 'now') return;
    this.#from = 'offsets';
    for (const [terminal, offset] of Object.entries(starts))
      if (!this.#offsets.has(terminal)) this.#offsets.set(terminal, offset);
  }

  events({ session, events }: FeedNotices['events']): void {
    const fresh = events.filter(({ seq }) => seq > this.#after);
    if (this.isClosed || fresh.length === 0) return;
    this.#after = fresh.at(-1)?.seq ?? this.#after;
    this.follower.send('events', { session, events: fresh });
  }

  /** Resolves when the follower has acknowledged the bytes. */
  async bytes({ session, terminal, offset, bytes: sent }: TerminalNotice): Promise<void> {
    if (this.isClosed || this.#from === 'none') return;
    const bytes = new Uint8Array(sent);
    const known = Math.max(0, (this.#offsets.get(terminal) ?? 0) - offset);
    if (known >= bytes.length) return;
    this.#offsets.set(terminal, offset + bytes.length);
    const fresh = { offset: offset + known, bytes: bytes.subarray(known) };
    await this.follower.sendBytes({ session, terminal, ...fresh });
  }
}
