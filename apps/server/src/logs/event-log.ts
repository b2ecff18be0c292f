import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  fact,
  isCall,
  type AgentEvent,
  type Event,
  type NewEvent,
  type SessionSettings,
  type SessionSummary,
} from '@belay/protocol';
import { notStored, storageError } from '../storage/database.js';
import type { Connection } from '../storage/schema.js';
import { checkAgentEvent } from './agent-events.js';
import { fold, takeOver, type Draft } from './fold.js';
import type { SessionRecord } from './session-record.js';
import { SessionStore } from './session.store.js';
import { Stalls } from './stalls.js';
import { firstSummary } from './summarize.js';

export type SessionListener = (events: Event[]) => void;
export type FleetListener = (session: string, events: Event[], summary: SessionSummary) => void;

/** Events to append, or what decides on them when their turn has come: nothing can slip in between. */
export type Appendix =
  NewEvent[] | ((summary: SessionSummary, settings: SessionSettings) => NewEvent[]);

const agent = 'agent';

interface Job {
  session: string;
  /** Answers the events to store and the changed record; throws `AppError` to refuse. */
  prepare: (record: SessionRecord, connection: Connection) => Promise<Draft> | Draft;
  done: (draft: Draft) => void;
  failed: (error: unknown) => void;
}

/**
 * The log of every session: the one way to write it. Appends are stored in the order in which they were
 * asked for, many in one transaction while the database is busy, and published after the commit.
 */
@Injectable()
export class EventLog implements OnApplicationShutdown {
  readonly stalls = new Stalls((session, seconds) => this.stalled(session, seconds));
  private readonly logger = new Logger(EventLog.name);
  private readonly records = new Map<string, SessionRecord>();
  private readonly listeners = new Map<string, Set<SessionListener>>();
  private readonly fleet = new Set<FleetListener>();
  private readonly personCalls = new Map<string, Set<string>>();
  private jobs: Job[] = [];
  private writing: Promise<void> | undefined;
  private loaded: Promise<void> | undefined;

  constructor(private readonly store: SessionStore) {}

  /** Stores events in order in one transaction, folds the summary, publishes after the commit. */
  async append(session: string, events: Appendix): Promise<Event[]> {
    const draft = await this.enqueue(session, (record) =>
      fold(record, typeof events === 'function' ? events(record.summary, record.settings) : events),
    );
    return draft.asked;
  }

  /**
   * Appends what an agent wrote, once each by `n`; a stale epoch or a gap in `n` is a `conflict`. After `disk_full`
   * the agent sends it again by itself.
   */
  appendFromAgent(session: string, epoch: number, events: AgentEvent[]): Promise<number[]> {
    return this.stalls.watch(session, agent, () => this.storeFromAgent(session, epoch, events));
  }

  private async storeFromAgent(
    session: string,
    epoch: number,
    events: AgentEvent[],
  ): Promise<number[]> {
    const checked = events.map((event) => ({ n: event.n, event: checkAgentEvent(event) }));
    let before = new Map<number, number>();
    const draft = await this.enqueue(session, async (record, connection) => {
      if (record.epoch !== epoch) {
        throw new AppError('conflict', 'Another sandbox works on this session now.');
      }
      const fresh = checked.filter(({ n }) => n > record.agentN);
      const first = events[0]?.n ?? 0;
      if (fresh.length < checked.length) {
        const range = { session, epoch, from: first, to: record.agentN };
        before = await this.store.seqsOf(connection, range);
      }
      if (fresh.some(({ n }, index) => n !== record.agentN + 1 + index)) {
        throw new AppError('conflict', `Events are missing after ${record.agentN}.`);
      }
      const sources = this.personCalls.get(session);
      const drafts = fresh.map(({ n, event }) => ({
        ...event,
        source: isCallOf(sources, event) ? ('user' as const) : event.source,
        agent: { epoch, n },
      }));
      return fold({ ...record, agentN: record.agentN + fresh.length }, drafts);
    });
    this.forgetPersonCalls(session, draft.asked);
    const stored = draft.asked.map((event) => event.seq);
    return events.map(({ n }) => before.get(n) ?? (stored.shift() as number));
  }

  /** Makes a session with the first events of its log, after those it takes over from another one. */
  async create(
    id: string,
    settings: SessionSettings,
    { copied = [], events }: { copied?: Event[]; events: NewEvent[] },
  ): Promise<SessionSummary> {
    const created = new Date().toISOString();
    const summary = firstSummary(id, settings, created);
    const empty = { id, created, epoch: 0, lastSeq: 0, agentN: 0, settings, summary };
    const taken = takeOver(empty, copied);
    const draft = fold(taken.record, events);
    draft.events.unshift(...taken.events);
    await this.store
      .transaction(async (connection) => {
        await this.store.insert(connection, draft.record);
        await this.store.insertEvents(connection, id, draft.events);
      })
      .catch(notStored);
    this.records.set(id, draft.record);
    this.publish(draft);
    return draft.record.summary;
  }

  /** Begins a new epoch: from now on the agents of older ones are refused. */
  async nextEpoch(session: string): Promise<number> {
    const draft = await this.enqueue(session, (record) =>
      fold({ ...record, epoch: record.epoch + 1, agentN: 0 }, []),
    );
    this.stalls.release(session, agent);
    return draft.record.epoch;
  }

  read(session: string, range: { after: number; limit?: number }): Promise<Event[]> {
    return this.store.events(session, range);
  }

  async lastSeq(session: string): Promise<number> {
    return (await this.record(session)).lastSeq;
  }

  /** The `n` of the last event stored from the agent of this epoch. */
  async storedN(session: string, epoch: number): Promise<number> {
    const record = await this.record(session);
    return record.epoch === epoch ? record.agentN : 0;
  }

  /** The session's summary as folded from its log; `not_found` when there is no such session. */
  async summary(session: string): Promise<SessionSummary> {
    return this.stalls.shown((await this.record(session)).summary);
  }

  async summaries(): Promise<SessionSummary[]> {
    await (this.loaded ??= this.load());
    return [...this.records.values()].map((record) => this.stalls.shown(record.summary));
  }

  /** What the session was started with, changes since then included. */
  async settings(session: string): Promise<SessionSettings> {
    return (await this.record(session)).settings;
  }

  /** Counts the sandboxes that the session has had; only the newest may write. */
  async epoch(session: string): Promise<number> {
    return (await this.record(session)).epoch;
  }

  /** The agent writes the call of this id and its result for a person. */
  markPersonCall(session: string, call: string): void {
    const calls = this.personCalls.get(session) ?? new Set();
    this.personCalls.set(session, calls.add(call));
  }

  /** Deletes the session and its log; its followers are not told here. Answers the blobs that it needed. */
  async remove(session: string): Promise<string[]> {
    await this.drained();
    const blobs = await this.store.transaction((connection) =>
      this.store.remove(connection, session),
    );
    this.records.delete(session);
    this.stalls.forget(session);
    this.listeners.delete(session);
    this.personCalls.delete(session);
    return blobs;
  }

  /** In order, after the commit; no replay. Answers what ends the subscription. */
  subscribe(session: string, listener: SessionListener): () => void {
    const listeners = this.listeners.get(session) ?? new Set();
    this.listeners.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(session) === listeners) {
        this.listeners.delete(session);
      }
    };
  }

  subscribeAll(listener: FleetListener): () => void {
    this.fleet.add(listener);
    return () => void this.fleet.delete(listener);
  }

  /** Resolves when everything asked for until now is stored or refused. */
  async drained(): Promise<void> {
    while (this.writing) await this.writing;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.drained();
  }

  private async record(session: string): Promise<SessionRecord> {
    const known = this.records.get(session);
    if (known) return known;
    const found = await this.store.find(session);
    if (!found) throw new AppError('not_found', `There is no session ${session}.`);
    const newer = this.records.get(session);
    if (newer) return newer;
    this.records.set(session, found);
    return found;
  }

  private async load(): Promise<void> {
    for (const record of await this.store.all()) {
      if (!this.records.has(record.id)) this.records.set(record.id, record);
    }
  }

  private enqueue(session: string, prepare: Job['prepare']): Promise<Draft> {
    return new Promise((done, failed) => {
      this.jobs.push({ session, prepare, done, failed });
      this.writing ??= this.write();
    });
  }

  private async write(): Promise<void> {
    // What is asked for in the same turn of the event loop shares the first transaction too.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.jobs.length > 0) {
      const batch = this.jobs;
      this.jobs = [];
      await this.writeBatch(batch);
    }
    // In the same turn as the last look at `jobs`: one added after it begins to write anew.
    this.writing = undefined;
  }

  private async writeBatch(batch: Job[]): Promise<void> {
    const settled: { job: Job; draft: Draft }[] = [];
    const changed = new Map<string, SessionRecord>();
    try {
      const missing = new Map<string, unknown>();
      for (const { session } of batch) {
        await this.record(session).catch((error: unknown) => missing.set(session, error));
      }
      await this.store.transaction(async (connection) => {
        const added = new Map<string, Draft['events']>();
        for (const job of batch) {
          const record = changed.get(job.session) ?? this.records.get(job.session);
          try {
            if (!record) throw missing.get(job.session);
            const draft = await job.prepare(record, connection);
            changed.set(job.session, draft.record);
            const events = added.get(job.session) ?? [];
            added.set(job.session, events);
            events.push(...draft.events);
            settled.push({ job, draft });
          } catch (error) {
            job.failed(error);
          }
        }
        for (const [session, events] of added) {
          if (events.length > 0) await this.store.insertEvents(connection, session, events);
        }
        for (const record of changed.values()) await this.store.update(connection, record);
      });
    } catch (error) {
      for (const job of batch) job.failed(storageError(error));
      return;
    }
    for (const [session, record] of changed) this.records.set(session, record);
    for (const { job, draft } of settled) {
      this.publish(draft);
      job.done(draft);
    }
  }

  private publish({ record, events: stored }: Draft): void {
    if (stored.length === 0) return;
    const events = stored.map(({ event }) => event);
    const listeners = this.listeners.get(record.id);
    for (const listener of listeners ?? []) this.tell(() => listener(events));
    this.publishToFleet(record, events);
  }

  private publishToFleet(record: SessionRecord, events: Event[]): void {
    const summary = this.stalls.shown(record.summary);
    for (const listener of this.fleet) this.tell(() => listener(record.id, events, summary));
  }

  private stalled(session: string, seconds: number | null): void {
    const record = this.records.get(session);
    if (!record) return;
    this.publishToFleet(record, []);
    if (seconds === null) return;
    const message = `The disk was full for ${Math.ceil(seconds)} s; what happened meanwhile is stored now.`;
    // Without room for this one either the stall begins again with the next try of somebody.
    void this.append(session, [fact('server', 'stalled', { args: { seconds }, message })]).catch(
      () => undefined,
    );
  }

  /** One broken listener must not keep what is stored from the others. */
  private tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.logger.error(error);
    }
  }

  private forgetPersonCalls(session: string, events: Event[]): void {
    const calls = this.personCalls.get(session);
    if (!calls) return;
    for (const event of events) if (event.action === 'result') calls.delete(event.id ?? '');
    if (calls.size === 0) this.personCalls.delete(session);
  }
}

/** A call that an agent made for a person, or its result; what else it caused is the agent's. */
function isCallOf(calls: ReadonlySet<string> | undefined, { id, action }: NewEvent): boolean {
  if (id === undefined || !calls?.has(id)) return false;
  return action === 'result' || isCall(action);
}
