import type { TerminalLog } from '../../logs/terminal-log.js';
import { hangUp, type ViewerSocket } from './viewer.js';

/** Limit of bytes sent to one viewer that it has not acknowledged. */
const windowBytes = 256 * 1024;
/** A viewer further behind than this is skipped forward; the middle is there by REST. */
const maxBehind = 1024 * 1024;
const piece = 64 * 1024;

interface Follower {
  socket: ViewerSocket;
  terminal: string;
  sent: number;
  /** Bytes sent and not acknowledged. */
  underWay: number;
  reading: boolean;
  closed: boolean;
}

/**
 * The viewers of one session’s terminals. Nothing is queued for a viewer: what it has no room for is read
 * from the log when it acknowledges. A slow viewer is skipped forward, so it neither delays others nor uses memory.
 */
export class TerminalFollowers {
  readonly #followers = new Map<ViewerSocket, Map<string, Follower>>();
  readonly #starts = new Map<ViewerSocket, Record<string, number>>();
  readonly #unsubscribe: () => void;

  constructor(
    private readonly session: string,
    private readonly terminals: TerminalLog,
  ) {
    this.#unsubscribe = terminals.subscribe(session, (terminal, offset, bytes) => {
      for (const socket of this.#followers.keys())
        this.#publish(socket, terminal, { offset, bytes });
    });
  }

  /** Follows the given terminals from their offsets, all others from their beginning. */
  async add(socket: ViewerSocket, from: Record<string, number>): Promise<void> {
    this.remove(socket);
    this.#followers.set(socket, new Map());
    this.#starts.set(socket, from);
    for (const { terminal } of await this.terminals.list(this.session)) {
      const follower = this.#follower(socket, terminal);
      if (follower) this.#startSending(follower);
    }
  }

  remove(socket: ViewerSocket): void {
    for (const follower of this.#followers.get(socket)?.values() ?? []) follower.closed = true;
    this.#followers.delete(socket);
    this.#starts.delete(socket);
  }

  close(): void {
    this.#unsubscribe();
    for (const socket of this.#followers.keys()) this.remove(socket);
  }

  #follower(socket: ViewerSocket, terminal: string): Follower | undefined {
    const followed = this.#followers.get(socket);
    const known = followed?.get(terminal);
    if (!followed || known) return known;
    const sent = Math.max(0, Math.trunc(this.#starts.get(socket)?.[terminal] ?? 0));
    const follower = { socket, terminal, sent, underWay: 0, reading: false, closed: false };
    followed.set(terminal, follower);
    return follower;
  }

  #publish(
    socket: ViewerSocket,
    terminal: string,
    { offset, bytes }: { offset: number; bytes: Uint8Array },
  ): void {
    const follower = this.#follower(socket, terminal);
    if (!follower || follower.reading) return;
    const fits = follower.underWay + bytes.length <= windowBytes;
    if (follower.sent === offset && fits) this.#emit(follower, offset, bytes);
    else this.#startSending(follower);
  }

  #startSending(follower: Follower): void {
    this.#send(follower).catch(() => hangUp(follower.socket));
  }

  async #send(follower: Follower): Promise<void> {
    if (follower.reading) return;
    follower.reading = true;
    try {
      while (!follower.closed && follower.underWay < windowBytes) {
        const size = await this.terminals.size(this.session, follower.terminal);
        if (size <= follower.sent) break;
        if (size - follower.sent > maxBehind) follower.sent = size - windowBytes;
        const from = follower.sent;
        const bytes = await this.terminals.read(
          this.session,
          follower.terminal,
          from,
          from + piece,
        );
        if (follower.closed || bytes.length === 0) break;
        this.#emit(follower, from, bytes);
      }
    } finally {
      follower.reading = false;
    }
    await this.#sendWhatCame(follower);
  }

  /** Sends bytes that arrived while `reading` was set. */
  async #sendWhatCame(follower: Follower): Promise<void> {
    if (follower.closed || follower.underWay >= windowBytes) return;
    const size = await this.terminals.size(this.session, follower.terminal);
    if (size > follower.sent) await this.#send(follower);
  }

  #emit(follower: Follower, offset: number, bytes: Uint8Array): void {
    follower.sent = offset + bytes.length;
    follower.underWay += bytes.length;
    const { session } = this;
    const { terminal, socket } = follower;
    socket.emit('terminal', { session, terminal, offset, bytes }, () => {
      follower.underWay -= bytes.length;
      this.#startSending(follower);
    });
  }
}
