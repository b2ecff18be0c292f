import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ignoreError } from '@belay/protocol';
import { Places } from '../sandboxes/places/places.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';

/** How long the sandbox of an ended session stays available to the user, unless its capacity is needed. */
const lingerMs = 15 * 60_000;

/**
 * Tracks which sessions have a sandbox and where, up to the limit of each place. The sandbox of an ended session lingers
 * for a while and is the first to be given up. Operations on one session’s sandbox run in order.
 */
@Injectable()
export class SandboxSlots implements OnApplicationShutdown {
  /** The places of sessions that have a sandbox, or are getting one, by id; null for the server. */
  readonly #taken = new Map<string, string | null>();
  readonly #halting = new Set<string>();
  readonly #unknown = new Set<string>();
  readonly #lingering = new Map<string, NodeJS.Timeout>();
  readonly #mutexes = new KeyedMutex();
  #onFree: () => void = () => {};
  #closing = false;

  constructor(
    private readonly places: Places,
    private readonly sandboxes: SandboxService,
  ) {}

  /** Whether a place has no capacity for a sandbox of this session, which may have one there. */
  isFull(place: string | null, session: string): boolean {
    return this.#at(place, session).length >= this.places.limitOf(place);
  }

  /** How many sandboxes a place has for sessions that work, other than this one. */
  working(place: string | null, except?: string): number {
    return this.#at(place, except).filter((session) => !this.#lingering.has(session)).length;
  }

  has(session: string): boolean {
    return this.#taken.has(session);
  }

  /** Whether the session’s sandbox is still looked for: what continues it has to wait. */
  isUnknown(session: string): boolean {
    return this.#unknown.has(session);
  }

  setUnknown(session: string, isUnknown: boolean): void {
    if (isUnknown) this.#unknown.add(session);
    else this.#unknown.delete(session);
  }

  /** Counts a sandbox for the session, which has one or is getting one. */
  take(session: string, place: string | null = this.sandboxes.placeOf(session)): void {
    this.#taken.set(session, place);
  }

  /** Releases the slot of a session that was refused a sandbox. */
  giveBack(session: string): void {
    this.#taken.delete(session);
  }

  /** The session’s sandbox is gone: its slot is free for another session. */
  free(session: string): void {
    this.keep(session);
    this.#taken.delete(session);
    this.#onFree();
  }

  /** The listener is called when a sandbox was released, or when that of an ended session may be taken. */
  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /** The session has ended: its sandbox may be given up from now on. */
  linger(session: string): void {
    if (!this.#taken.has(session) || this.#closing) return;
    this.keep(session);
    const timer = setTimeout(
      () =>
        void this.halt(session).catch(
          ignoreError('an engine that does not respond keeps the sandbox, and it lingers on'),
        ),
      lingerMs,
    );
    this.#lingering.set(session, timer.unref());
    this.#onFree();
  }

  /** The session works again, so its sandbox is kept. */
  keep(session: string): void {
    clearTimeout(this.#lingering.get(session));
    this.#lingering.delete(session);
  }

  /** Gives up the sandbox of an ended session that nobody is going to use. Throws when the engine fails. */
  async endLingering(session: string, before: () => Promise<void>): Promise<void> {
    if (this.#lingering.has(session)) await this.halt(session, before);
  }

  /** Gives up the sandbox of a place that has lingered longest; false when there is none. Throws when the engine fails. */
  async freeOldest(place: string | null): Promise<boolean> {
    const oldest = [...this.#lingering.keys()].find((one) => this.#taken.get(one) === place);
    if (oldest === undefined) return false;
    await this.halt(oldest);
    return true;
  }

  /** Ends the sandbox and keeps its files. Throws when the engine fails. */
  async halt(session: string, before: () => Promise<void> = nothing): Promise<void> {
    this.keep(session);
    this.startHalting(session);
    try {
      await this.inOrder(session, async () => {
        await before();
        await this.sandboxes.stop(session);
        this.#taken.delete(session);
      });
    } catch (error) {
      // The engine failed to remove it: it is given up later, unless the session needs it again.
      if (!this.#mutexes.isBusy(session)) this.linger(session);
      throw error;
    } finally {
      this.startsAgain(session);
    }
    this.#onFree();
  }

  /** Stops sending events to the session’s agent: the next agent gets them from the log. */
  startHalting(session: string): void {
    this.#halting.add(session);
  }

  startsAgain(session: string): void {
    this.#halting.delete(session);
  }

  /** Whether the sandbox is about to end: events sent to its agent now would be lost. */
  isHalting(session: string): boolean {
    return this.#halting.has(session);
  }

  /** Runs after earlier operations on the session’s sandbox. */
  inOrder(session: string, work: () => Promise<void>): Promise<void> {
    return this.#mutexes.run(session, work);
  }

  onApplicationShutdown(): void {
    this.#closing = true;
    for (const timer of this.#lingering.values()) clearTimeout(timer);
  }

  #at(place: string | null, except?: string): string[] {
    return [...this.#taken].flatMap(([session, at]) =>
      at === place && session !== except ? session : [],
    );
  }
}

const nothing = (): Promise<void> => Promise.resolve();
