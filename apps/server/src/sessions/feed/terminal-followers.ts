import { ownValue } from '@belay/protocol';
import type { TerminalLog } from '../../logs/terminal-log.js';
import { terminalBehind, terminalPiece, terminalWindow } from './feed-limits.js';
import type { Follower } from './follower.js';

/** Start offsets of some terminals, with all others sent from their beginning; or only new output. */
export type TerminalStarts = Record<string, number> | 'now';

interface Position<F extends Follower> {
  follower: F;
  terminal: string;
  sent: number;
  /** Bytes that are sent but not acknowledged yet. */
  underWay: number;
  reading: boolean;
  closed: boolean;
}

interface Followed<F extends Follower> {
  /** Undefined until the current ends of the terminals are known. */
  starts: Record<string, number> | undefined;
  positions: Map<string, Position<F>>;
}

/**
 * The followers of one session’s terminals. Nothing is queued for a follower: bytes that it does not accept at once
 * are read from the log later. A slow follower is skipped forward, so it neither delays others nor uses memory.
 */
export class TerminalFollowers<F extends Follower> {
  readonly #followed = new Map<F, Followed<F>>();
  readonly #unsubscribe: () => void;

  constructor(
    private readonly session: string,
    private readonly terminals: TerminalLog,
    private readonly failed: (follower: F, error: unknown) => void,
  ) {
    this.#unsubscribe = terminals.subscribe(session, (terminal, offset, bytes) => {
      for (const follower of this.#followed.keys())
        this.#publish(follower, terminal, { offset, bytes });
    });
  }

  /** Where the follower would have to begin to be sent the rest. */
  starts(follower: F): TerminalStarts | 'none' {
    const followed = this.#followed.get(follower);
    if (!followed) return 'none';
    const sent = [...followed.positions.values()].map((at) => [at.terminal, at.sent] as const);
    return followed.starts ? { ...followed.starts, ...Object.fromEntries(sent) } : 'now';
  }

  add(follower: F, from: TerminalStarts): void {
    this.remove(follower);
    const followed = { starts: from === 'now' ? undefined : from, positions: new Map() };
    this.#followed.set(follower, followed);
    this.#begin(follower, followed).catch((error: unknown) => {
      if (this.#followed.get(follower) === followed) this.failed(follower, error);
    });
  }

  remove(follower: F): void {
    for (const position of this.#followed.get(follower)?.positions.values() ?? [])
      position.closed = true;
    this.#followed.delete(follower);
  }

  close(): void {
    this.#unsubscribe();
    for (const follower of this.#followed.keys()) this.remove(follower);
  }

  async #begin(follower: F, followed: Followed<F>): Promise<void> {
    const known = await this.terminals.list(this.session);
    if (this.#followed.get(follower) !== followed) return;
    followed.starts ??= Object.fromEntries(known.map(({ terminal, size }) => [terminal, size]));
    for (const { terminal } of known) {
      const position = this.#position(follower, terminal, 0);
      if (position) this.#startSending(position);
    }
  }

  /** `offset` is that of the newly arrived bytes, for a follower whose start offsets are not known yet. */
  #position(follower: F, terminal: string, offset: number): Position<F> | undefined {
    const followed = this.#followed.get(follower);
    const known = followed?.positions.get(terminal);
    if (!followed || known) return known;
    const start = followed.starts ? (ownValue(followed.starts, terminal) ?? 0) : offset;
    const sent = Math.max(0, Math.trunc(start));
    const position = { follower, terminal, sent, underWay: 0, reading: false, closed: false };
    followed.positions.set(terminal, position);
    return position;
  }

  #publish(
    follower: F,
    terminal: string,
    { offset, bytes }: { offset: number; bytes: Uint8Array },
  ): void {
    const position = this.#position(follower, terminal, offset);
    if (!position || position.reading) return;
    const fits = position.underWay + bytes.length <= terminalWindow && !follower.isCongested;
    if (position.sent === offset && fits) this.#emit(position, offset, bytes);
    else this.#startSending(position);
  }

  #startSending(position: Position<F>): void {
    this.#send(position).catch((error: unknown) => {
      if (!position.closed) this.failed(position.follower, error);
    });
  }

  async #send(position: Position<F>): Promise<void> {
    if (position.reading) return;
    position.reading = true;
    const { follower, terminal } = position;
    try {
      while (takesMore(position)) {
        if (follower.isCongested) {
          await follower.drained();
          continue;
        }
        const size = await this.terminals.size(this.session, terminal);
        if (size <= position.sent) break;
        if (size - position.sent > terminalBehind) position.sent = size - terminalWindow;
        const from = position.sent;
        const to = from + terminalPiece;
        const bytes = await this.terminals.readLive(this.session, terminal, from, to);
        if (position.closed || bytes.length === 0) break;
        // If other data congested the connection meanwhile, these bytes are dropped and read again later: nothing
        // waits in memory.
        if (!follower.isCongested) this.#emit(position, from, bytes);
      }
    } finally {
      position.reading = false;
    }
    await this.#sendWhatCame(position);
  }

  /** Sends bytes that arrived while `reading` was set. */
  async #sendWhatCame(position: Position<F>): Promise<void> {
    if (!takesMore(position)) return;
    const size = await this.terminals.size(this.session, position.terminal);
    if (size > position.sent) await this.#send(position);
  }

  #emit(position: Position<F>, offset: number, bytes: Uint8Array): void {
    position.sent = offset + bytes.length;
    position.underWay += bytes.length;
    const { session } = this;
    const { follower, terminal } = position;
    void follower.sendBytes({ session, terminal, offset, bytes }).then(() => {
      position.underWay -= bytes.length;
      this.#startSending(position);
    });
  }
}

const takesMore = ({ closed, underWay, follower }: Position<Follower>): boolean =>
  !closed && follower.isOpen && underWay < terminalWindow;
