import { AppError } from '@belay/protocol';
import { storageError } from '../storage/database.js';
import type { AppendJob, StoredBatch } from './append-job.js';
import type { EventBudget } from './event-budget.js';
import type { Fence } from './fence.js';
import type { Draft } from './fold.js';
import type { SessionRecord } from './session-record.js';
import type { SessionRecords } from './session-records.js';
import type { SessionsStore } from './sessions.store.js';
import { isDiskFull } from './stalls.js';
import { writtenDraft } from './written-draft.js';

/** Stores appends in the order of the calls, many in one transaction while the database is busy. */
export class LogWriter {
  #jobs: AppendJob[] = [];
  #writing: Promise<void> | undefined;

  constructor(
    private readonly store: SessionsStore,
    private readonly records: SessionRecords,
    private readonly fence: Fence,
    private readonly budget: EventBudget,
    private readonly published: (draft: Draft) => void,
  ) {}

  /** Resolves when the events that `prepare` makes are stored; it gets the record as all earlier appends leave it. */
  enqueue(session: string, prepare: AppendJob['prepare'], reads = false): Promise<Draft> {
    return new Promise((done, failed) => {
      this.#jobs.push({ session, prepare, reads, done, failed });
      this.#writing ??= this.#write();
    });
  }

  /** Resolves when all earlier requests are stored or refused. */
  async drained(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #write(): Promise<void> {
    // Appends in the same turn of the event loop share the first transaction.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#jobs.length > 0) {
      const batch = this.#jobs;
      this.#jobs = [];
      await this.#writeBatch(batch);
    }
    // Synchronous with the last check of `jobs`, so a job that is added later starts a new write.
    this.#writing = undefined;
  }

  #writeBatch(batch: AppendJob[]): Promise<void> {
    const sessions = batch.map(({ session }) => session);
    return this.fence.storing(sessions, () => this.#storeBatch(batch));
  }

  async #storeBatch(batch: AppendJob[]): Promise<void> {
    const stored: StoredBatch = { settled: [], changed: new Map(), added: new Map() };
    try {
      await this.#store(batch, stored);
    } catch (error) {
      const bySession = Map.groupBy(batch, ({ session }) => session);
      if (bySession.size === 1 || isDiskFull(storageError(error))) {
        const failure = this.fence.failureOf(error, bySession.keys());
        for (const job of batch) job.failed(failure);
        return;
      }
      // An error for one session must not fail the appends of the others.
      for (const jobs of bySession.values()) await this.#writeBatch(jobs);
      return;
    }
    for (const record of stored.changed.values()) this.fence.set(record);
    for (const [session, events] of stored.added) {
      const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
      this.budget.add(session, bytes);
    }
    for (const { job, draft } of stored.settled) {
      this.published(draft);
      job.done(draft);
    }
  }

  async #store(batch: AppendJob[], { settled, changed, added }: StoredBatch): Promise<void> {
    const found = new Map<string, SessionRecord>();
    const missing = new Map<string, unknown>();
    for (const { session } of batch) {
      if (found.has(session) || missing.has(session)) continue;
      try {
        found.set(session, await this.records.get(session));
      } catch (error) {
        missing.set(session, error);
      }
    }
    await this.store.transaction(async (connection) => {
      const inserted = new Map<string, number>();
      const insert = async (session: string): Promise<void> => {
        const events = added.get(session) ?? [];
        const fresh = events.slice(inserted.get(session) ?? 0);
        inserted.set(session, events.length);
        if (fresh.length > 0) await this.store.insertEvents(connection, session, fresh);
      };
      for (const job of batch) {
        if (job.reads) await insert(job.session);
        const before = changed.get(job.session);
        try {
          const record = before ? this.fence.again(before) : found.get(job.session);
          if (!record) throw missing.get(job.session);
          if (record.damage !== undefined) throw new AppError('internal', record.damage);
          const draft = await job.prepare(record, connection);
          const { record: after, rows } = writtenDraft(draft);
          changed.set(job.session, after);
          const earlier = added.get(job.session);
          if (earlier) for (const row of rows) earlier.push(row);
          else added.set(job.session, rows);
          settled.push({ job, draft });
        } catch (error) {
          job.failed(error);
        }
      }
      for (const session of added.keys()) await insert(session);
      for (const [session, record] of changed) {
        const before = found.get(session);
        if (before) changed.set(session, await this.fence.update(connection, record, before));
      }
    });
  }
}
