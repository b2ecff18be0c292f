import type { WebSocket } from 'ws';
import type { Caller } from '../access/caller.js';
import type { CallerEnds } from '../access/caller-ends.js';
import { RequestBudget } from './limits/request-budget.js';

/** Close codes: those of the standard (RFC 6455), and our own from 4000 on. */
const closeCodes = {
  invalid: 1007,
  unauthorized: 4401,
  tooSlow: 4408,
  tooManyRequests: 4429,
} as const;

/** The limit of bytes waiting for a client that does not read; it reconnects and resumes. */
const maxBufferedBytes = 16 * 2 ** 20;
const introductionTimeoutMs = 10_000;
const closeTimeoutMs = 2_000;

/** An open WebSocket of one client. It closes when its caller ends, or does not introduce itself in time. */
export class ApiSocket {
  readonly #closing = new AbortController();
  #caller: Caller | undefined;
  #budget = new RequestBudget(undefined);
  #answersPings = true;

  constructor(
    private readonly socket: WebSocket,
    private readonly ends: CallerEnds,
    /** Finds the caller of a token; undefined when the token is wrong. */
    private readonly callerOf: (token: string) => Caller | undefined,
  ) {
    const late = setTimeout(() => {
      if (!this.#caller) this.close('unauthorized', 'No token was sent in time.');
    }, introductionTimeoutMs);
    this.closing.addEventListener('abort', () => clearTimeout(late));
    socket.on('pong', () => (this.#answersPings = true));
    // A faulty frame closes the socket; there is nothing else to do.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#closing.abort());
  }

  /** Undefined until the client has introduced itself. */
  get caller(): Caller | undefined {
    return this.#caller;
  }

  /** Aborts as soon as the socket begins to close. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /** Counts a request; false when the limit is exceeded. */
  takeRequest(): boolean {
    return this.#budget.take();
  }

  admit(caller: Caller): void {
    this.#caller = caller;
    this.#budget = new RequestBudget(caller);
    const off = this.ends.on(caller, () =>
      this.close('unauthorized', 'The token was revoked or has expired.'),
    );
    this.closing.addEventListener('abort', off, { once: true });
  }

  /** Admits the caller of a token. Returns undefined when the token is wrong. */
  introduce(token: string): Caller | undefined {
    const caller = this.callerOf(token);
    if (caller) this.admit(caller);
    return caller;
  }

  /** Nothing is received once the socket closes. */
  onMessage(listener: (data: Buffer, isBinary: boolean) => void): void {
    this.socket.on('message', (data: Buffer, isBinary) => {
      if (this.isOpen) listener(data, isBinary);
    });
  }

  /** Resolves when the network has accepted the message, or cannot. Never rejects. */
  async send(message: object): Promise<void> {
    if (!this.isOpen) return;
    if (this.socket.bufferedAmount > maxBufferedBytes)
      return this.close('tooSlow', 'Read faster, or resume from the last seq.');
    const text = JSON.stringify(message);
    await new Promise<void>((resolve) => this.socket.send(text, () => resolve()));
  }

  /** Also disconnects a client that does not close the connection itself. */
  close(code: keyof typeof closeCodes, reason: string): void {
    this.#closing.abort();
    this.socket.close(closeCodes[code], reason);
    setTimeout(() => this.socket.terminate(), closeTimeoutMs).unref();
  }

  /** Disconnects the client at once. Resolves when that is done. */
  terminate(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.socket.once('close', () => resolve()));
    this.socket.terminate();
    return closed;
  }

  /** Disconnects a client that has not answered the last ping; pings any other. */
  ping(): void {
    if (!this.#answersPings) return this.socket.terminate();
    this.#answersPings = false;
    this.socket.ping();
  }
}
