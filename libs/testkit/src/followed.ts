import { isEnded, isEvent, type Event, type NewSession, type SessionState } from '@belay/protocol';
import type { BelayServer } from './belay-server.js';

/**
 * How long a test waits for one condition, in milliseconds; most of it is needed on busy machines.
 */
const waitTimeoutMs = 120_000;

/** A session that a test watches: the events so far, and ways to wait for more. */
export class Followed {
  readonly events: Event[] = [];
  /** The output of each terminal, in pieces that are joined only when a test reads them. */
  readonly #output = new Map<string, Uint8Array[]>();
  /** How much the terminals have printed whose output is not kept. */
  readonly #counted = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  #refusal: Error | undefined;
  #closed: () => void = () => undefined;

  constructor(
    private server: Pick<BelayServer, 'live' | 'log'>,
    readonly id: string,
  ) {
    this.follow();
  }

  /** Follows from the last event, through this server; needed after a restart of the server. */
  follow(server = this.server): void {
    this.server = server;
    this.#closed();
    this.#refusal = undefined;
    const offsets = [...this.#output.keys()].map(
      (name) => [name, this.#bytes(name).length] as const,
    );
    const watch = this.server.live.watch(
      this.id,
      {
        events: (events) => {
          this.events.push(...events);
          this.#wake();
        },
        terminal: ({ terminal, bytes }) => {
          const counted = this.#counted.get(terminal);
          const pieces = this.#output.get(terminal);
          if (counted !== undefined) this.#counted.set(terminal, counted + bytes.length);
          else if (pieces) pieces.push(bytes);
          else this.#output.set(terminal, [bytes]);
          this.#wake();
        },
        // Rejects current waits; a session may also be deleted when nothing waits for it any more.
        refused: (error) => {
          this.#refusal = error;
          this.#wake();
        },
      },
      { after: this.events.at(-1)?.seq ?? 0, terminals: Object.fromEntries(offsets) },
    );
    this.#closed = () => watch.close();
  }

  /** Waits until `found` returns a value other than undefined or false. */
  async until<T>(found: () => T | undefined | false, what = 'what the test waits for'): Promise<T> {
    const started = Date.now();
    for (;;) {
      const value = found();
      if (value !== undefined && value !== false) return value;
      if (this.#refusal) throw this.#refusal;
      const late = Date.now() - started > waitTimeoutMs;
      if (late)
        throw new Error(
          `Waited ${waitTimeoutMs / 1000} s for ${what}. Seen:\n${this.words()}\n${this.server.log.slice(-4000)}`,
        );
      await new Promise<void>((wake) => {
        const timer = setTimeout(done, 1_000);
        const waiting = this.#waiting;
        waiting.add(done);
        function done() {
          clearTimeout(timer);
          waiting.delete(done);
          wake();
        }
      });
    }
  }

  /** Waits for the first event after `after` that matches. */
  event(matches: (event: Event) => boolean, after = 0): Promise<Event> {
    const what = `an event where ${matches.toString()}`;
    return this.until(() => this.events.find((event) => event.seq > after && matches(event)), what);
  }

  state(...states: SessionState[]): Promise<Event> {
    return this.until(
      () => {
        const last = this.events.findLast((event) => event.action === 'state');
        return last && isEvent(last, 'state') && states.includes(last.args.state)
          ? last
          : undefined;
      },
      `state ${states.join(' or ')}`,
    );
  }

  /**
   * Waits for the end of the session. After a restart, pass the number of the previous end event.
   */
  ended(after = 0): Promise<Event> {
    return this.until(() => {
      const last = this.events.findLast((event) => event.action === 'state');
      return last && last.seq > after && isEvent(last, 'state') && isEnded(last.args.state)
        ? last
        : undefined;
    }, 'its end');
  }

  /** Waits for the end, and throws an error with the log unless the state is `finished`. */
  async finished(after = 0): Promise<Event> {
    const end = await this.ended(after);
    if (end.args.state === 'finished') return end;
    throw new Error(
      `The session did not finish:\n${this.words()}\n${this.terminal().slice(-4000)}`,
    );
  }

  /**
   * Waits until a terminal has printed this. Output is sent separately from events and may arrive
   * after the end.
   */
  printed(what: string | RegExp, terminal = 'main'): Promise<true> {
    const isThere = (text: string) =>
      typeof what === 'string' ? text.includes(what) : what.test(text);
    return this.until(
      () => isThere(this.terminal(terminal)) || undefined,
      `${what} in its terminal`,
    );
  }

  /**
   * Only counts the bytes of a terminal from now on, because keeping a flood would slow down a measurement. Returns how
   * to read the count.
   */
  countOnly(terminal: string): () => number {
    this.#counted.set(terminal, 0);
    return () => this.#counted.get(terminal) ?? 0;
  }

  /** The log as text, one event per line. */
  words(): string {
    return this.events
      .map((event) => `${event.seq} ${event.source} ${event.action} ${event.message}`)
      .join('\n');
  }

  terminal(name = 'main'): string {
    return this.#bytes(name).toString('utf8');
  }

  close(): void {
    this.#closed();
  }

  #bytes(terminal: string): Buffer {
    const joined = Buffer.concat(this.#output.get(terminal) ?? []);
    this.#output.set(terminal, [joined]);
    return joined;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}

/** Creates a session and watches it from its first event. Approvals are `auto` by default. */
export async function start(
  server: Pick<BelayServer, 'client' | 'live' | 'log'>,
  session: NewSession,
): Promise<Followed> {
  const { id } = await server.client.sessions.create({ approvals: 'auto', ...session });
  return new Followed(server, id);
}
