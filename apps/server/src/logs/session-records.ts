import { Logger } from '@nestjs/common';
import { noSuchSession } from '../access/caller.js';
import type { SessionRecord } from './session-record.js';
import type { SessionsStore } from './sessions.store.js';
import { SharedReading } from '../storage/shared-reading.js';

/**
 * A cache of session records, each read once: of all sessions, or where several servers work, of those that this one owns.
 * Those of others are read again once they have changed. A damaged one is reported to the server’s log once.
 */
export class SessionRecords {
  readonly #logger = new Logger(SessionRecords.name);
  readonly #records = new Map<string, SessionRecord>();
  readonly #reported = new Set<string>();
  #loaded: Promise<void> | undefined;
  /** Where several servers work: all sessions, as they were stored at the last reading. */
  #stored: ReadonlyMap<string, SessionRecord> = new Map();
  readonly #reading = new SharedReading(async () => {
    this.#stored = await this.store.changed(new Map([...this.#stored, ...this.#records]));
  });

  constructor(
    private readonly store: SessionsStore,
    private readonly isShared: boolean,
  ) {}

  /** Throws `not_found` when there is no such session. */
  async get(session: string): Promise<SessionRecord> {
    const known = this.#records.get(session);
    if (known) return known;
    const found = await this.store.find(session);
    if (!found) throw noSuchSession(session);
    return this.#records.get(session) ?? this.#keep(found);
  }

  /** The record, if it is cached. */
  known(session: string): SessionRecord | undefined {
    return this.#records.get(session);
  }

  async all(): Promise<SessionRecord[]> {
    if (this.isShared) {
      await this.#reading.get();
      const found = [...this.#stored.values()];
      return found.map((record) => this.#records.get(record.id) ?? this.#keep(record));
    }
    await (this.#loaded ??= this.#load());
    return [...this.#records.values()];
  }

  set(record: SessionRecord): void {
    this.#records.set(record.id, record);
  }

  delete(session: string): void {
    this.#records.delete(session);
  }

  async #load(): Promise<void> {
    for (const record of await this.store.all()) {
      if (!this.#records.has(record.id)) this.#keep(record);
    }
  }

  #keep(record: SessionRecord): SessionRecord {
    if (!this.isShared) this.#records.set(record.id, record);
    if (record.damage !== undefined && !this.#reported.has(record.id)) {
      this.#reported.add(record.id);
      this.#logger.error(record.damage);
    }
    return record;
  }
}
