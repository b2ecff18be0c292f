import { Injectable } from '@nestjs/common';
import { AppError, ignoreError, type ApiName } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { Caller } from '../access/caller.js';
import { EventLog } from '../logs/event-log.js';
import type { SessionRecord } from '../logs/session-record.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { ColdChanges } from '../storage/cold-changes.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import { SessionPlaces } from './session-places.js';
import { StartQueue } from './start-queue.js';

export interface Placed {
  caller: Caller;
  /** Whether the client will send the session’s files. */
  sendsWorkspace: boolean;
  /** Whether this server follows its work, so that it stays here. */
  stays: boolean;
}

/** The APIs that pass on what is asked about a session of another server. The others follow their sessions themselves. */
const passingOn: ReadonlySet<ApiName | undefined> = new Set<ApiName>([
  'rest',
  'dashboard',
  'cli',
  'ws',
]);

/** Begins new sessions at the server that works on the fewest, of those that have the same sandboxes. */
@Injectable()
export class SessionPlacement {
  /**
   * One after another: of many that begin at once, each counts those before it. Meanwhile, only the database is asked: a
   * storage that does not answer for one session keeps no others waiting.
   */
  readonly #choices = new Mutex();

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly places: SessionPlaces,
    private readonly queue: StartQueue,
    private readonly servers: LiveServers,
    private readonly changes: ColdChanges,
  ) {}

  /** Starts a session that was created, here or elsewhere: then this server appends no more to its log. */
  async begin(session: string, { caller, sendsWorkspace, stays }: Placed): Promise<void> {
    const isBound = stays || caller.isLocal || !passingOn.has(caller.via?.api);
    const others = isBound ? [] : await this.#othersFor(session);
    const other =
      others.length > 0
        ? await this.#choices.runExclusive(() => this.#handedTo(session, others))
        : undefined;
    if (!other) return this.#beginHere(session, sendsWorkspace);
    const looks = ignoreError('it looks for them every half second');
    await this.changes.tell('handed', other.id).catch(looks);
  }

  /** Its user may have stopped and restarted it meanwhile, which has begun it here: a second start would end that one. */
  async #beginHere(session: string, sendsWorkspace: boolean): Promise<void> {
    const ofDeleted = ignoreError('its start finds that it was deleted');
    const epoch = (await this.log.epoch(session).catch(ofDeleted)) ?? 0;
    if (epoch === 0) this.queue.begin(session, { sendsWorkspace });
  }

  /** Other servers that could have the session’s sandbox. */
  async #othersFor(session: string): Promise<LiveServer[]> {
    try {
      const others = (await this.servers.others()).filter(
        (one) => this.servers.sharesEngine(one) && one.sandboxes < one.capacity,
      );
      if (others.length === 0 || !(await this.places.isAtServer(session))) return [];
      // The server that leads gives a user’s sign-in from one session to the next.
      return (await this.log.settings(session)).agent?.login ? [] : others;
    } catch {
      // It begins here.
      return [];
    }
  }

  /** Undefined for a session that begins here. */
  async #handedTo(session: string, others: readonly LiveServer[]): Promise<LiveServer | undefined> {
    const other = await this.#leastLoaded(others).catch(ignoreError('it begins here'));
    return other && (await this.#isHandedOver(session, other)) ? other : undefined;
  }

  async #isHandedOver(session: string, { id }: LiveServer): Promise<boolean> {
    try {
      await this.log.handOver(session, id, notBegun);
      return true;
    } catch (error) {
      // It has begun here, or it is unknown whether that was stored: then its next append says so.
      if (this.log.isOwned(session)) return false;
      throw error;
    }
  }

  /** Undefined for this server. */
  async #leastLoaded(others: readonly LiveServer[]): Promise<LiveServer | undefined> {
    const owned = await this.store.ownedByServer();
    const load = ({ id }: LiveServer): number => owned.get(id) ?? 0;
    const [least] = others.toSorted((a, b) => load(a) - load(b));
    // The new one is of this server so far. It serves the clients as well, so another one with as many comes first.
    return least && load(least) < this.log.ownedCount ? least : undefined;
  }
}

/** Throws `conflict` for one that has begun here. */
function notBegun(record: SessionRecord): SessionRecord {
  if (record.epoch === 0) return record;
  throw new AppError('conflict', 'The session has begun at this server.');
}
