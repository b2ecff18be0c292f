import {
  dashboardPath,
  errorFrom,
  AppError,
  type Answer,
  type EvaluationSummary,
  type Event,
  type SessionSummary,
  type ViewerCalls,
  type ViewerNotices,
  type ViewerRequests,
} from '@belay/protocol';
import { io, type Socket } from 'socket.io-client';
import type { Address } from './rest.js';

/** Output of a terminal. A gap before `offset` means that bytes were skipped; they are available over REST. */
export interface TerminalBytes {
  terminal: string;
  offset: number;
  bytes: Uint8Array;
}

export interface BrowserFrame {
  jpeg: Uint8Array;
  width: number;
  height: number;
  url: string;
}

/** Callbacks of a watched session. Each event is delivered once and in order, also across reconnects. */
export interface SessionListener {
  events(events: Event[]): void;
  delta?(kind: 'text' | 'reasoning', text: string): void;
  /** Return a promise for back pressure: more is sent after it resolves. */
  terminal?(bytes: TerminalBytes): void | Promise<void>;
  /** The latest output of an action’s call. */
  output?(call: string, text: string): void;
  /** The progress of copying the workspace to its sandbox, in bytes; `total` is null if it is unknown. */
  copied?(done: number, total: number | null): void;
  frame?(frame: BrowserFrame): void;
  /** The session cannot be watched (any more), for example because it was deleted; no callback follows. */
  refused?(error: AppError): void;
}

export interface Watch {
  close(): void;
}

/** Nothing is lost while `reconnecting`: missed events and bytes are sent afterwards. */
export type LiveState = 'connecting' | 'live' | 'reconnecting' | 'refused';

/** Called with each changed summary; null when its subject was deleted. */
export type SummaryListener<T> = (id: string, summary: T | null) => void;

const acknowledgementMs = 60_000;

interface Watched {
  after: number;
  terminals: Map<string, number>;
  listener: SessionListener;
}

/**
 * The live connection to the server: one socket for any number of watched sessions. After a reconnect, it resumes from
 * the last event and byte that it received.
 */
export class LiveConnection {
  readonly #socket: Socket<ViewerNotices, ViewerCalls>;
  readonly #watched = new Map<string, Watched>();
  readonly #fleet = new Set<SummaryListener<SessionSummary>>();
  readonly #evaluations = new Set<SummaryListener<EvaluationSummary>>();
  readonly #states = new Set<(state: LiveState) => void>();
  #state: LiveState = 'connecting';

  constructor({ url, token }: Address) {
    this.#socket = io(url, {
      path: dashboardPath,
      transports: ['websocket'],
      reconnectionDelay: 100,
      reconnectionDelayMax: 2_000,
      // Node sends the header; a browser cannot, and sends the key in the first packet.
      ...(token && { extraHeaders: { authorization: `Bearer ${token}` }, auth: { key: token } }),
    });
    this.#socket.on('connect', () => this.#resume());
    this.#socket.on('disconnect', (why) => {
      this.#setState('reconnecting');
      if (why === 'io server disconnect') this.#socket.connect();
    });
    this.#socket.on('connect_error', () => {
      if (!this.#socket.active) this.#setState('refused');
    });
    this.#listen();
  }

  get state(): LiveState {
    return this.#state;
  }

  onState(listener: (state: LiveState) => void): () => void {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  }

  /** Follows a session from after event `after` and from the given terminal offsets. One watch per session. */
  watch(
    session: string,
    listener: SessionListener,
    from: { after?: number; terminals?: Record<string, number> } = {},
  ): Watch {
    const watched: Watched = {
      after: from.after ?? 0,
      terminals: new Map(Object.entries(from.terminals ?? {})),
      listener,
    };
    this.#watched.set(session, watched);
    if (this.#socket.connected) this.#ask(session, watched);
    return {
      close: () => {
        if (this.#watched.get(session) !== watched) return;
        this.#watched.delete(session);
        if (this.#socket.connected) this.#socket.emit('unwatch', { session }, () => undefined);
      },
    };
  }

  /** Follows the summaries of all sessions: first all of them, then each one that changes. */
  fleet(listener: SummaryListener<SessionSummary>): Watch {
    return this.#follow('fleet', this.#fleet, listener);
  }

  /** Follows the summaries of all benchmark runs in the same way. */
  evaluations(listener: SummaryListener<EvaluationSummary>): Watch {
    return this.#follow('evaluations', this.#evaluations, listener);
  }

  #follow<T>(request: 'fleet' | 'evaluations', listeners: Set<T>, listener: T): Watch {
    listeners.add(listener);
    if (this.#socket.connected) this.#socket.emit(request, {}, () => undefined);
    return { close: () => void listeners.delete(listener) };
  }

  /**
   * Sends a request of the dashboard socket; resolves with its acknowledgement. Rejects with `AppError`: `unavailable`
   * without an acknowledgement, in which case it is unknown whether the request was carried out.
   */
  async request<K extends keyof ViewerRequests>(
    name: K,
    input: ViewerRequests[K],
  ): Promise<unknown> {
    const sent = this.#socket.timeout(acknowledgementMs).emitWithAck(name, ...([input] as never));
    const answer = (await sent.catch(() => {
      throw new AppError(
        'unavailable',
        'The connection broke before the server confirmed this. Check whether it was done, or try again.',
      );
    })) as Answer<unknown>;
    if (!answer.ok) throw errorFrom(answer.error);
    return answer.value;
  }

  close(): void {
    this.#socket.close();
  }

  #listen(): void {
    this.#socket.on('events', ({ session, events }) => {
      const watched = this.#watched.get(session);
      const fresh = watched && events.filter((event) => event.seq > watched.after);
      if (!watched || !fresh?.length) return;
      watched.after = fresh.at(-1)?.seq ?? watched.after;
      watched.listener.events(fresh);
    });
    this.#socket.on('delta', ({ session, kind, text }) =>
      this.#watched.get(session)?.listener.delta?.(kind, text),
    );
    this.#socket.on('output', ({ session, call, text }) =>
      this.#watched.get(session)?.listener.output?.(call, text),
    );
    this.#socket.on('copied', ({ session, done, total }) =>
      this.#watched.get(session)?.listener.copied?.(done, total),
    );
    this.#socket.on('terminal', ({ session, terminal, offset, bytes }, received) => {
      const watched = this.#watched.get(session);
      const fresh = watched && newBytes(watched, terminal, offset, viewOf(bytes));
      void Promise.resolve(fresh && watched.listener.terminal?.(fresh)).then(received, received);
    });
    this.#socket.on('frame', ({ session, jpeg, ...frame }) =>
      this.#watched.get(session)?.listener.frame?.({ ...frame, jpeg: viewOf(jpeg) }),
    );
    this.#socket.on('gone', ({ session, error }) => {
      const watched = this.#watched.get(session);
      this.#watched.delete(session);
      watched?.listener.refused?.(errorFrom(error));
    });
    this.#socket.on('session', ({ id, summary }) => {
      for (const listener of this.#fleet) listener(id, summary);
    });
    this.#socket.on('evaluation', ({ id, summary }) => {
      for (const listener of this.#evaluations) listener(id, summary);
    });
  }

  #resume(): void {
    this.#setState('live');
    for (const [session, watched] of this.#watched) this.#ask(session, watched);
    if (this.#fleet.size) this.#socket.emit('fleet', {}, () => undefined);
    if (this.#evaluations.size) this.#socket.emit('evaluations', {}, () => undefined);
  }

  #ask(session: string, { after, terminals, listener }: Watched): void {
    const request = { session, after, terminals: Object.fromEntries(terminals) };
    this.#socket.emit('watch', request, (answer) => {
      if (answer.ok || this.#watched.get(session)?.listener !== listener) return;
      this.#watched.delete(session);
      listener.refused?.(errorFrom(answer.error));
    });
  }

  #setState(state: LiveState): void {
    this.#state = state;
    for (const listener of this.#states) listener(state);
  }
}

/** The new bytes of a chunk; undefined if there are none. */
function newBytes(
  watched: Watched,
  terminal: string,
  offset: number,
  bytes: Uint8Array,
): TerminalBytes | undefined {
  const received = watched.terminals.get(terminal) ?? 0;
  const end = offset + bytes.length;
  if (end <= received) return undefined;
  watched.terminals.set(terminal, end);
  const known = Math.max(0, received - offset);
  return { terminal, offset: offset + known, bytes: bytes.subarray(known) };
}

/** The received bytes, which are not copied: an `ArrayBuffer` in a browser, a `Buffer` in Node. */
const viewOf = (bytes: ArrayBuffer | Uint8Array): Uint8Array =>
  ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
