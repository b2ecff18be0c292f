import { setTimeout as delay } from 'node:timers/promises';
import { AppError, ignoreError } from '@belay/protocol';
import { lease } from '../storage/lease.js';
import { claimMs } from '../storage/live-servers.js';
import type { LeaseHolder, ServerRows } from './server-rows.js';

/** The time between two beats, in milliseconds. */
const beatMs = 500;
/** A server whose beats are not stored for this long stops, well before another one may take its place. */
const suspendMs = 3_000;
/** How long the killed predecessor of a server that works alone may count as alive, in milliseconds. */
const aloneMs = claimMs + 2_000;

export interface MembershipListener {
  /** Another server leads now, or nobody. */
  moved(holder: LeaseHolder | undefined): void;
  /** This server must not go on, for this reason. */
  suspended(reason: string): void;
}

/**
 * This server among those of its database. One of them at a time has the lease and leads; each may have sessions. A
 * server shows that it is alive by its beats; what it missed is judged by the database’s clock. How long it may go on
 * without them is judged by its own, which does not jump, and by the database’s, which does not stand still with it.
 */
export class Membership {
  readonly #closing = new AbortController();
  readonly #turn = Promise.withResolvers<void>();
  /** Resolves with the time at which the next beat was sent that is stored. */
  #nextBeat = Promise.withResolvers<number>();
  #holder: LeaseHolder | undefined;
  #isHeld = false;
  #until = 0;
  #beating: Promise<void> | undefined;
  #watching: NodeJS.Timeout | undefined;
  #works = false;

  constructor(
    private readonly rows: ServerRows,
    private readonly listener: MembershipListener,
  ) {}

  /** Begins to show that this server is alive, and to take the lease when it can. */
  start(): void {
    this.#beating = this.#beat();
  }

  /**
   * Resolves when this server has the lease. Throws `conflict` when it, or the server that has the lease, does not share
   * the database.
   */
  async turn(): Promise<void> {
    const late = delay(aloneMs, 'late', { ref: false });
    if ((await Promise.race([this.#turn.promise, late])) !== 'late') return;
    if (this.rows.isAlone || this.#holder?.address === null)
      throw new AppError('conflict', otherServer);
    await this.#turn.promise;
  }

  /**
   * Resolves once a beat of now is stored; from then on, this server may not go on without beats. While it started, it had
   * nothing to lose but the lease, and on a busy machine a start may keep it from its beats for so long that it counts as
   * ended.
   */
  async work(): Promise<void> {
    const asked = performance.now();
    while ((await this.#nextBeat.promise) < asked);
    this.#works = true;
  }

  /** The server that has the lease, as of the last beat. */
  get holder(): LeaseHolder | undefined {
    return this.#holder;
  }

  /** Whether a beat was stored lately, with which the holder was asked for. */
  get isCurrent(): boolean {
    return performance.now() < this.#until;
  }

  /** Gives the lease back. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#beating;
    clearInterval(this.#watching);
    await this.rows.leave();
  }

  async #beat(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const sent = performance.now();
      // While the database is away, the time passes after which this server is suspended.
      await this.#beatOnce(sent).catch(ignoreError('it is tried again'));
      await delay(beatMs, undefined, { signal }).catch(ignoreError('it is closed'));
    }
  }

  async #beatOnce(sent: number): Promise<void> {
    // The own clock stands still while the whole machine does.
    const mayBeLate = this.rows.isAlone || !this.#works;
    if (!(await this.rows.beat({ mayBeLate })))
      return this.listener.suspended('Other servers took it for ended.');
    if (!this.#isHeld && (await this.rows.take())) this.#hold(sent);
    const holder = await this.rows.holder();
    if (this.#isHeld && holder?.id !== this.rows.own.id)
      return this.listener.suspended('Another server has its place.');
    this.#renew(sent);
    const before = this.#holder;
    this.#holder = holder;
    if (before?.id !== holder?.id) this.listener.moved(holder);
    this.#nextBeat.resolve(sent);
    this.#nextBeat = Promise.withResolvers();
  }

  #hold(sent: number): void {
    this.#isHeld = true;
    lease.hold();
    this.#renew(sent);
    this.#turn.resolve();
  }

  /** Whoever shares the database may have sessions of its own, which another server takes when no beat is stored. */
  #renew(sent: number): void {
    // A server that works alone goes on when its database is back.
    if (this.rows.isAlone) return;
    this.#until = sent + suspendMs;
    lease.renew(this.#until);
    this.#watching ??= setInterval(() => {
      if (this.#works && performance.now() > this.#until)
        this.listener.suspended(`Its database did not respond for ${suspendMs / 1000} s.`);
    }, beatMs / 2);
  }
}

const otherServer =
  'Another Belay server uses this database: stop it, or give each of them BELAY_PEER_URL (docs/server.md).';
