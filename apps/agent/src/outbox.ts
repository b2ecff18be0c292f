import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, errorFrom, type AgentEvent, type NewEvent } from '@belay/protocol';
import type { Journal } from './journal.js';

export interface OutboxOptions {
  /** Stores events in order, all or none; answers their numbers. Waits through a break of the rope. */
  send(events: AgentEvent[]): Promise<number[]>;
  /** Told of each event once, in order, when it is stored. */
  stored(event: AgentEvent, seq: number): void;
  /** The server will take nothing more: a newer agent has the session, or the rope is gone. */
  refused(error: AppError): void;
}

const batchEvents = 200;
const batchBytes = 4 * 2 ** 20;
const retryAfter = 1_000;

/** The journal of a session: events go out in order, numbered by `n`, one batch at a time, until they are stored. */
export class Outbox implements Journal {
  readonly #queue: AgentEvent[] = [];
  readonly #waiting: { n: number; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #n = 0;
  #storedN = 0;
  #alone = 0;
  #sending = false;
  #refusal: AppError | undefined;

  constructor(private readonly options: OutboxOptions) {}

  append({ action, args, message, id, time = new Date().toISOString() }: NewEvent): void {
    if (this.#refusal) return;
    this.#queue.push({ time, action, args, message, ...(id && { id }), n: ++this.#n });
    void this.#send();
  }

  /** Resolves when everything appended so far is stored; rejects when it never will be. */
  async flush(): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    if (this.#storedN >= this.#n) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ n: this.#n, resolve, reject });
    await promise;
  }

  /** Gives up what is not stored yet, and everything after it. */
  close(error: AppError): void {
    if (this.#refusal) return;
    this.#refusal = error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.options.refused(error);
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    // What is appended in this tick goes out together.
    await Promise.resolve();
    while (this.#queue.length > 0 && !this.#refusal) await this.#sendBatch();
    this.#sending = false;
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#batch();
    try {
      const seqs = await this.options.send(batch);
      this.#take(batch, seqs);
    } catch (thrown) {
      const error = errorFrom(thrown);
      if (final.has(error.code)) this.close(error);
      else if (error.code !== 'invalid_input') await sleep(retryAfter);
      // One bad event must not hold back the good ones: they go alone, and it is left out.
      else if (batch.length === 1) this.#take(batch, []);
      else this.#alone = batch.length;
    }
  }

  #batch(): AgentEvent[] {
    if (this.#alone > 0) {
      this.#alone--;
      return this.#queue.slice(0, 1);
    }
    let bytes = 0;
    const end = this.#queue.findIndex((event, index) => {
      bytes += JSON.stringify(event.args).length;
      return index > 0 && (index >= batchEvents || bytes > batchBytes);
    });
    return this.#queue.slice(0, end < 0 ? undefined : end);
  }

  #take(batch: AgentEvent[], seqs: number[]): void {
    this.#queue.splice(0, batch.length);
    batch.forEach((event, index) => {
      this.#storedN = event.n;
      const seq = seqs[index];
      if (seq !== undefined) this.options.stored(event, seq);
    });
    while (this.#waiting[0] && this.#waiting[0].n <= this.#storedN) {
      this.#waiting.shift()?.resolve();
    }
  }
}

/** With these the server never takes what is here: a newer agent has the session, or it is gone. */
const final = new Set(['conflict', 'not_found', 'forbidden', 'unauthorized']);
