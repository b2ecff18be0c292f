import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, errorFrom, eventBatch, type AgentEvent, type NewEvent } from '@belay/protocol';
import { boundedEvent } from './bounded-event.js';
import type { EventWriter } from './event-writer.js';

export interface OutboxOptions {
  /** Stores events in order, all or none; returns their numbers. Waits while the connection is interrupted. */
  send(events: AgentEvent[]): Promise<number[]>;
  /** Called for each event once, in order, when it is stored. */
  stored(event: AgentEvent, seq: number): void;
  /** The server will accept nothing more: a newer agent has the session, or the connection is permanently closed. */
  refused(error: AppError): void;
}

const maxBatchBytes = 4 * 2 ** 20;
const retryDelayMs = 1_000;

type Waiting = { after: number; resolve: () => void; reject: (error: unknown) => void };

/**
 * The event writer of a session: events are sent in order, one batch at a time, until they are stored. They are
 * numbered when they are sent, so that a dropped event leaves no gap.
 */
export class Outbox implements EventWriter {
  readonly #options: OutboxOptions;
  readonly #queue: Omit<AgentEvent, 'n'>[] = [];
  readonly #waiting: Waiting[] = [];
  #appended = 0;
  /** Events that are stored or dropped. */
  #done = 0;
  #storedN = 0;
  #alone = 0;
  #sending = false;
  #refusal: AppError | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  append({ action, args, message, id, time = new Date().toISOString() }: NewEvent): void {
    if (this.#refusal) return;
    this.#queue.push(boundedEvent({ time, action, args, message, ...(id && { id }) }));
    this.#appended++;
    void this.#send();
  }

  /** Resolves when everything appended so far is stored; rejects when it never will be. */
  async flush(): Promise<void> {
    if (this.#refusal) throw this.#refusal;
    if (this.#done >= this.#appended) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ after: this.#appended, resolve, reject });
    await promise;
  }

  /** Drops events that are not stored yet, and all later ones. */
  close(error: AppError): void {
    if (this.#refusal) return;
    this.#refusal = error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.#options.refused(error);
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    // Events appended in this tick are sent together.
    await Promise.resolve();
    while (this.#queue.length > 0 && !this.#refusal) await this.#sendBatch();
    this.#sending = false;
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#batch();
    try {
      this.#take(batch, await this.#options.send(batch));
    } catch (thrown) {
      const error = errorFrom(thrown);
      if (final.has(error.code)) this.close(error);
      else if (!bad.has(error.code)) await sleep(retryDelayMs);
      // An invalid event must not block valid ones: events are sent singly, and the invalid one is dropped.
      else if (batch.length === 1) this.#leave(1);
      else this.#alone = batch.length;
    }
  }

  #batch(): AgentEvent[] {
    const batch = this.#alone > 0 ? this.#queue.slice(0, 1) : this.#asMuchAsFits();
    if (this.#alone > 0) this.#alone--;
    return batch.map((event, index) => ({ ...event, n: this.#storedN + 1 + index }));
  }

  #asMuchAsFits(): Omit<AgentEvent, 'n'>[] {
    let bytes = 0;
    const end = this.#queue.findIndex((event, index) => {
      bytes += JSON.stringify(event.args).length;
      return index > 0 && (index >= eventBatch.events || bytes > maxBatchBytes);
    });
    return this.#queue.slice(0, end < 0 ? undefined : end);
  }

  #take(batch: AgentEvent[], seqs: number[]): void {
    this.#storedN += batch.length;
    batch.forEach((event, index) => {
      const seq = seqs[index];
      if (seq !== undefined) this.#options.stored(event, seq);
    });
    this.#leave(batch.length);
  }

  /** Removes the first events of the queue. */
  #leave(count: number): void {
    this.#queue.splice(0, count);
    this.#done += count;
    while (this.#waiting[0] && this.#waiting[0].after <= this.#done) {
      this.#waiting.shift()?.resolve();
    }
  }
}

/** Errors with which an event can never be stored. */
const bad = new Set(['invalid_input', 'too_large']);
/** Errors after which the server accepts no events: a newer agent has the session, or it was deleted. */
const final = new Set(['conflict', 'not_found', 'forbidden', 'unauthorized']);
