import { LiveConnection, type Watch } from '@belay/client';
import { isEnded, isEvent, type SessionState } from '@belay/protocol';
import type { BelayServer } from '@belay/testkit';

/** Much longer than a session takes. */
const sessionTimeoutMs = 10 * 60_000;

/** Runs sessions in sequence, each watched by a number of viewers and deleted after its end. */
export class AgentSlot {
  finished = 0;
  /** How often a viewer saw a session from its first event to its last. */
  seen = 0;
  readonly failures: string[] = [];
  readonly #server: BelayServer;
  readonly #model: string;
  readonly #viewers: number;
  readonly #end = new AbortController();

  constructor(server: BelayServer, model: string, viewers: number) {
    this.#server = server;
    this.#model = model;
    this.#viewers = viewers;
  }

  /** Resolves after `end`, once the last session is deleted. */
  async run(): Promise<void> {
    const address = { url: this.#server.url, token: this.#server.token };
    while (!this.#end.signal.aborted) {
      // Each session has new viewers, like a dashboard that is opened and closed.
      const viewers = Array.from({ length: this.#viewers }, () => new LiveConnection(address));
      try {
        await this.#session(viewers);
      } catch (error) {
        this.failures.push(`A session failed: ${String(error)}`);
        return;
      } finally {
        for (const viewer of viewers) viewer.close();
      }
    }
  }

  end(): void {
    this.#end.abort();
  }

  async #session(viewers: readonly LiveConnection[]): Promise<void> {
    const { sessions } = this.#server.client;
    const task = 'Work for a while.';
    const { id } = await sessions.create({ task, model: this.#model, approvals: 'auto' });
    const stop = () => void sessions.stop(id).catch(() => undefined);
    this.#end.signal.addEventListener('abort', stop, { once: true });
    if (this.#end.signal.aborted) stop();
    try {
      const ends = await Promise.all(viewers.map((viewer) => endSeen(viewer, id)));
      const { state, reason } = await sessions.get(id);
      if (state === 'finished') this.finished++;
      else if (!this.#end.signal.aborted)
        this.failures.push(`Session ${id} is ${state}: ${reason ?? 'no reason was given'}`);
      this.seen += ends.filter((end) => end === 'finished').length;
    } finally {
      this.#end.signal.removeEventListener('abort', stop);
      await sessions.remove(id);
    }
  }
}

/**
 * Watches a session from its first event; resolves to its final state. Rejects if an event was
 * missed.
 */
function endSeen(viewer: LiveConnection, session: string): Promise<SessionState> {
  const { promise, resolve, reject } = Promise.withResolvers<SessionState>();
  let last = 0;
  const watch: Watch = viewer.watch(session, {
    events: (events) => {
      for (const event of events) {
        if (event.seq !== last + 1)
          reject(new Error(`Event ${event.seq} of ${session} came after ${last}.`));
        last = event.seq;
        if (isEvent(event, 'state') && isEnded(event.args.state)) resolve(event.args.state);
      }
    },
    terminal: () => undefined,
    refused: reject,
  });
  const late = () =>
    reject(new Error(`${session} did not end within ${sessionTimeoutMs / 60_000} minutes.`));
  const timer = setTimeout(late, sessionTimeoutMs);
  return promise.finally(() => {
    clearTimeout(timer);
    watch.close();
  });
}
