import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  ignoreError,
  isEnded,
  type AgentEvent,
  type Event,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import { Config } from '../config.js';
import { notStored, storageError } from '../storage/database.js';
import { Absences } from './absences.js';
import type { AppendJob, StoredBatch } from './append-job.js';
import type { Appendix } from './appendix.js';
import { checkAgentEvents, refuseNewWork } from './agent-events.js';
import { idsOfCalls, refuseUsedIds } from './call-ids.js';
import { chainRows, type ChainPlace } from './chained-rows.js';
import { EventBudget } from './event-budget.js';
import { Fence } from './fence.js';
import { fold, takeOver, type Draft, type NewLog } from './fold.js';
import { LogListeners, type FleetListener, type LogListener } from './log-listeners.js';
import { QueuedMessages } from './queued-messages.js';
import { firstRecord, type SessionRecord } from './session-record.js';
import { SessionRecords } from './session-records.js';
import { SessionsStore } from './sessions.store.js';
import { isDiskFull, stalledEvent, Stalls } from './stalls.js';
import { UserCalls, type UserCall } from './user-calls.js';
import { writtenDraft } from './written-draft.js';

/**
 * The log of every session; only this class writes it. Appends are stored in the order of the calls, many in one
 * transaction while the database is busy, and published after the commit.
 */
@Injectable()
export class EventLog implements OnApplicationShutdown {
  readonly stalls = new Stalls((session, seconds) => this.#stalled(session, seconds));
  readonly absences = new Absences((session) => this.#shownChanged(session));
  readonly messages: QueuedMessages;
  readonly #records: SessionRecords;
  readonly #fence: Fence;
  readonly #budget: EventBudget;
  readonly #listeners = new LogListeners();
  readonly #userCalls = new UserCalls();
  #jobs: AppendJob[] = [];
  #writing: Promise<void> | undefined;

  constructor(
    private readonly store: SessionsStore,
    config: Config,
  ) {
    this.messages = new QueuedMessages(this, store);
    this.#records = new SessionRecords(store);
    this.#fence = new Fence(store, this.#records);
    this.#budget = new EventBudget(config, store);
  }

  /** Stores events in order in one transaction, folds the summary, publishes after the commit. */
  async append(session: string, events: Appendix): Promise<Event[]> {
    if (typeof events !== 'function')
      return (await this.#enqueue(session, (record) => fold(record, events))).asked;
    const prepare: AppendJob['prepare'] = async (record, connection) =>
      fold(record, await events(record.summary, record.settings, connection));
    return (await this.#enqueue(session, prepare, true)).asked;
  }

  /**
   * Appends an agent’s events, each `n` once; an old epoch or a gap in `n` is a `conflict`. After `disk_full` the
   * agent retries by itself.
   */
  appendFromAgent(session: string, epoch: number, events: AgentEvent[]): Promise<number[]> {
    return this.stalls.watch(session, 'agent', () => this.#storeFromAgent(session, epoch, events));
  }

  async #storeFromAgent(session: string, epoch: number, events: AgentEvent[]): Promise<number[]> {
    const checked = checkAgentEvents(events);
    await this.#budget.require(session);
    let before = new Map<number, number>();
    const draft = await this.#enqueue(session, async (record, connection) => {
      if (record.epoch !== epoch) {
        throw new AppError('conflict', 'Another sandbox works on this session now.');
      }
      const fresh = checked.filter(({ n }) => n > record.agentN);
      if (fresh.length < checked.length) {
        const range = { session, epoch, from: events[0]?.n ?? 0, to: record.agentN };
        before = await this.store.seqsOf(connection, range);
      }
      if (fresh.some(({ n }, index) => n !== record.agentN + 1 + index)) {
        throw new AppError('conflict', `Events are missing after ${record.agentN}.`);
      }
      const ids = idsOfCalls(fresh.map(({ event }) => event));
      refuseUsedIds(ids, await this.store.calledIds(connection, session, ids));
      const drafts = fresh.map(({ n, event }) => ({
        ...event,
        source: this.#userCalls.sourceOf(session, event),
        agent: { epoch, n },
      }));
      if (isEnded(record.summary.state)) refuseNewWork(drafts);
      return fold({ ...record, agentN: record.agentN + fresh.length }, drafts);
    });
    this.#userCalls.removeEnded(session, draft.asked);
    const stored = draft.asked.map((event) => event.seq);
    return events.map(({ n }) => before.get(n) ?? (stored.shift() as number));
  }

  /** Creates a session with the first events of its log, which follow those copied from another session. */
  async create(
    id: string,
    settings: SessionSettings,
    { copied, events, comparison = null }: NewLog,
  ): Promise<SessionSummary> {
    const empty = firstRecord(id, settings, comparison);
    const taken = takeOver(empty, copied?.events ?? []);
    const draft = fold(taken.record, events);
    draft.events.unshift(...taken.events);
    const { record, rows } = writtenDraft(draft);
    await this.store
      .transaction(async (connection) => {
        await this.store.insert(connection, record);
        await this.store.insertEvents(connection, id, rows);
        if (copied) await this.store.copyBlobs(connection, id, copied);
      })
      .catch(notStored);
    this.#fence.set(record);
    this.#publish(draft);
    return record.summary;
  }

  /** Begins a new epoch: from now on the agents of older ones are refused. */
  async nextEpoch(session: string): Promise<number> {
    const draft = await this.#enqueue(session, (record) =>
      fold({ ...record, epoch: record.epoch + 1, agentN: 0 }, []),
    );
    this.stalls.release(session, 'agent');
    return draft.record.epoch;
  }

  /** Chains the events after `from` in a log of an earlier version; returns null when it has reached the end. */
  async chainPart(session: string, from: ChainPlace): Promise<ChainPlace | null> {
    let to = from;
    const prepare: AppendJob['prepare'] = async (record, connection) => {
      to = await chainRows(connection, session, from);
      const isWhole = to.seq >= record.lastSeq || to.seq === from.seq;
      const chain = { head: to.head, chainedFrom: record.lastSeq + 1 };
      return fold(isWhole ? { ...record, ...chain } : record, []);
    };
    const { record } = await this.#enqueue(session, prepare, true);
    return record.head === null ? to : null;
  }

  read(session: string, range: { after: number; limit?: number }): Promise<Event[]> {
    return this.store.events(session, range);
  }

  async lastSeq(session: string): Promise<number> {
    return (await this.#records.get(session)).lastSeq;
  }

  /** Whether an event may be of an earlier server, or of this one’s process before: decided without any clock. */
  readonly isEarlier = (session: string, seq: number): boolean =>
    seq <= this.#fence.before(session);

  /** The `n` of the last event stored from the agent of this epoch. */
  async storedN(session: string, epoch: number): Promise<number> {
    const record = await this.#records.get(session);
    return record.epoch === epoch ? record.agentN : 0;
  }

  /** The session’s summary, computed from its log; `not_found` when the session does not exist. */
  async summary(session: string): Promise<SessionSummary> {
    return this.#shown(await this.#records.get(session));
  }

  async summaries(): Promise<SessionSummary[]> {
    return (await this.#records.all()).map((record) => this.#shown(record));
  }

  /** The session’s settings at its start, with later changes applied. */
  async settings(session: string): Promise<SessionSettings> {
    const { settings, damage } = await this.#records.get(session);
    if (damage !== undefined) throw new AppError('internal', damage);
    return settings;
  }

  /** Why the session’s stored data cannot be read, in which case nothing can be appended; otherwise undefined. */
  async damage(session: string): Promise<string | undefined> {
    return (await this.#records.get(session)).damage;
  }

  /** The number of sandboxes that the session has had; only the newest may write. */
  async epoch(session: string): Promise<number> {
    return (await this.#records.get(session)).epoch;
  }

  /** The term by which this server writes for the session; undefined before it has, or if another server has since. */
  term(session: string): number | undefined {
    return this.#fence.term(session);
  }

  /** Registers a user’s call, which the agent writes to the log with its result. */
  markUserCall(session: string, id: string, call: UserCall): void {
    this.#userCalls.add(session, id, call);
  }

  /** A user’s call in progress. */
  userCall(session: string, id: string): UserCall | undefined {
    return this.#userCalls.find(session, id);
  }

  /** Forgets a user’s call that has ended without being logged. */
  forgetUserCall(session: string, id: string): void {
    this.#userCalls.remove(session, id);
  }

  /** Deletes the session and its log without notifying followers. Returns the blobs that it referenced. */
  async remove(session: string): Promise<string[]> {
    await this.drained();
    const blobs = await this.store.transaction((connection) =>
      this.store.remove(connection, session),
    );
    this.#fence.delete(session);
    this.stalls.forget(session);
    this.#budget.forget(session);
    this.#listeners.remove(session);
    this.#userCalls.removeAll(session);
    return blobs;
  }

  /** Calls the listener with new events in order, after their commit. Returns a function that unsubscribes. */
  subscribe(session: string, listener: LogListener): () => void {
    return this.#listeners.add(session, listener);
  }

  subscribeAll(listener: FleetListener): () => void {
    return this.#listeners.addForAll(listener);
  }

  /** Resolves when all earlier requests are stored or refused. */
  async drained(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.drained();
  }

  #enqueue(session: string, prepare: AppendJob['prepare'], reads = false): Promise<Draft> {
    return new Promise((done, failed) => {
      this.#jobs.push({ session, prepare, reads, done, failed });
      this.#writing ??= this.#write();
    });
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

  async #writeBatch(batch: AppendJob[]): Promise<void> {
    const stored: StoredBatch = { settled: [], changed: new Map(), added: new Map() };
    try {
      await this.#store(batch, stored);
    } catch (error) {
      const bySession = Map.groupBy(batch, ({ session }) => session);
      if (bySession.size === 1 || isDiskFull(storageError(error))) {
        const failure = this.#fence.failureOf(error, bySession.keys());
        for (const job of batch) job.failed(failure);
        return;
      }
      // An error for one session must not fail the appends of the others.
      for (const jobs of bySession.values()) await this.#writeBatch(jobs);
      return;
    }
    for (const record of stored.changed.values()) this.#fence.set(record);
    for (const [session, events] of stored.added) {
      const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
      this.#budget.add(session, bytes);
    }
    for (const { job, draft } of stored.settled) {
      this.#publish(draft);
      job.done(draft);
    }
  }

  async #store(batch: AppendJob[], { settled, changed, added }: StoredBatch): Promise<void> {
    const missing = new Map<string, unknown>();
    for (const { session } of batch) {
      await this.#records.get(session).catch((error: unknown) => missing.set(session, error));
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
        const record = changed.get(job.session) ?? this.#records.known(job.session);
        try {
          if (!record) throw missing.get(job.session);
          if (record.damage !== undefined) throw new AppError('internal', record.damage);
          const draft = await job.prepare(record, connection);
          const { record: after, rows } = writtenDraft(draft);
          changed.set(job.session, after);
          const before = added.get(job.session);
          if (before) for (const row of rows) before.push(row);
          else added.set(job.session, rows);
          settled.push({ job, draft });
        } catch (error) {
          job.failed(error);
        }
      }
      for (const session of added.keys()) await insert(session);
      for (const [session, record] of changed)
        changed.set(session, await this.#fence.update(connection, record));
    });
  }

  #publish({ record, events: stored }: Draft): void {
    const events = stored.map(({ event }) => event);
    if (events.length > 0) this.#listeners.publish(this.#shown(record), events);
  }

  /** With what keeps the session from going on, which is not in its log. */
  #shown({ summary }: SessionRecord): SessionSummary {
    return this.stalls.shown(this.absences.shown(summary));
  }

  #shownChanged(session: string): void {
    const record = this.#records.known(session);
    if (record) this.#listeners.publishToFleet(this.#shown(record), []);
  }

  #stalled(session: string, seconds: number | null): void {
    this.#shownChanged(session);
    if (seconds === null || !this.#records.known(session)) return;
    const noSpace = ignoreError('without space for this, too, the next append starts a new stall');
    void this.append(session, [stalledEvent(seconds)]).catch(noSpace);
  }
}
