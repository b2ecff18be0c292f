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
import type { BeforeLead } from '../storage/on-lead.js';
import { Config } from '../config.js';
import { notStored } from '../storage/database.js';
import { Absences } from './absences.js';
import type { AppendJob } from './append-job.js';
import type { Appendix } from './appendix.js';
import { checkAgentEvents, refuseNewWork } from './agent-events.js';
import { idsOfCalls, refuseUsedIds } from './call-ids.js';
import { chainRows, type ChainPlace } from './chained-rows.js';
import { Elsewhere } from './elsewhere.js';
import { EventBudget } from './event-budget.js';
import { Fence } from './fence.js';
import { fold, takeOver, type Draft, type NewLog } from './fold.js';
import {
  LogListeners,
  type BeginListener,
  type FleetListener,
  type LogListener,
  type MoveListener,
  type SummaryChangeListener,
} from './log-listeners.js';
import { LogWriter } from './log-writer.js';
import { OwnerClaims } from './owner-claims.js';
import { QueuedMessages } from './queued-messages.js';
import { anyRecord, firstRecord, type SessionRecord } from './session-record.js';
import { SessionRecords } from './session-records.js';
import { SessionsStore } from './sessions.store.js';
import { stalledEvent, Stalls } from './stalls.js';
import { UserCalls } from './user-calls.js';
import { writtenDraft } from './written-draft.js';

type TakenListener = (sessions: readonly SessionSummary[]) => void;

/** The log of every session, which nothing else appends to. Events are published after they are stored. */
@Injectable()
export class EventLog implements BeforeLead, OnApplicationShutdown {
  readonly stalls = new Stalls((session, seconds) => this.#stalled(session, seconds));
  readonly absences = new Absences((session) => this.#shownChanged(session));
  readonly messages: QueuedMessages;
  readonly userCalls = new UserCalls();
  readonly #records: SessionRecords;
  readonly #fence: Fence;
  readonly claims: OwnerClaims;
  readonly #budget: EventBudget;
  readonly #listeners = new LogListeners();
  readonly elsewhere = new Elsewhere(this.#listeners);
  readonly #writer: LogWriter;
  readonly #onTaken = new Set<TakenListener>();
  /** The sessions that were taken as this server began to lead. */
  #left: readonly string[] = [];

  constructor(
    private readonly store: SessionsStore,
    config: Config,
  ) {
    const isShared = config.peerAddress !== undefined;
    this.messages = new QueuedMessages(this, store);
    this.#records = new SessionRecords(store, isShared);
    this.#fence = new Fence(store, this.#records, isShared, (session) => this.#begun(session));
    this.claims = new OwnerClaims(store.owners, this.#fence, (records) => this.#own(records));
    this.#budget = new EventBudget(config, store);
    const published = (draft: Draft): void => this.#publish(draft);
    this.#writer = new LogWriter(store, this.#records, this.#fence, this.#budget, published);
  }

  /** Before anything is appended to them, this server becomes the owner of the sessions that others left. */
  async beforeLead(): Promise<void> {
    this.#left = (await this.claims.left()).map(({ id }) => id);
  }

  /** The sessions that this server became the owner of as it began to lead, and still is. */
  takenToLead(): Promise<SessionSummary[]> {
    const owned = this.#left.filter((session) => this.isOwned(session));
    return Promise.all(owned.map((session) => this.summary(session)));
  }

  /** Calls the listener with sessions that this server has taken over, before it does anything for them. */
  onTaken(listener: TakenListener): void {
    this.#onTaken.add(listener);
  }

  #own(records: readonly SessionRecord[]): SessionSummary[] {
    for (const record of records) this.#fence.set(record);
    for (const { id } of records) this.elsewhere.moved(id);
    const taken = records.map((record) => this.#shown(record));
    if (taken.length > 0) for (const listener of this.#onTaken) listener(taken);
    return taken;
  }

  /** Gives a session to another server, which takes it with `OwnerClaims.handed`, unless `check` throws. */
  async handOver(session: string, server: string, check = anyRecord): Promise<void> {
    await this.#writer.enqueue(session, (record) => fold({ ...check(record), owner: server }, []));
    this.elsewhere.moved(session);
  }

  /** How many sessions this server owns. */
  get ownedCount(): number {
    return this.#fence.owned.size;
  }

  isOwned(session: string): boolean {
    return this.#fence.owned.has(session);
  }

  /** Stores events in order in one transaction, folds the summary, publishes after the commit. */
  async append(session: string, events: Appendix): Promise<Event[]> {
    if (typeof events !== 'function')
      return (await this.#writer.enqueue(session, (record) => fold(record, events))).asked;
    const prepare: AppendJob['prepare'] = async (record, connection) =>
      fold(record, await events(record.summary, record.settings, connection));
    return (await this.#writer.enqueue(session, prepare, true)).asked;
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
    const draft = await this.#writer.enqueue(session, async (record, connection) => {
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
        source: this.userCalls.sourceOf(session, event),
        agent: { epoch, n },
      }));
      if (isEnded(record.summary.state)) refuseNewWork(drafts);
      return fold({ ...record, agentN: record.agentN + fresh.length }, drafts);
    });
    this.userCalls.removeEnded(session, draft.asked);
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
    await this.#fence.storing([id], async () => {
      await this.store
        .transaction(async (connection) => {
          await this.store.insert(connection, record);
          await this.store.insertEvents(connection, id, rows);
          if (copied) await this.store.copyBlobs(connection, id, copied);
        })
        .catch(notStored);
      this.#fence.set(record);
    });
    this.#publish(draft);
    return record.summary;
  }

  /** The sessions that this server owns. */
  owned(): Promise<SessionSummary[]> {
    return Promise.all([...this.#fence.owned].map((session) => this.summary(session)));
  }

  /** Leaves a session without an owner until the next append, unless it `goesOn` by then. */
  async release(session: string, goesOn?: (summary: SessionSummary) => boolean): Promise<void> {
    const leave = (record: SessionRecord) =>
      fold(goesOn?.(record.summary) ? record : { ...record, owner: null }, []);
    if (this.#fence.owned.has(session)) await this.#writer.enqueue(session, leave);
  }

  /** Begins a new epoch: from now on the agents of older ones are refused. */
  async nextEpoch(session: string): Promise<number> {
    const draft = await this.#writer.enqueue(session, (record) =>
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
    const { record } = await this.#writer.enqueue(session, prepare, true);
    return record.head === null ? to : null;
  }

  read(session: string, range: { after: number; limit?: number }): Promise<Event[]> {
    return this.store.events(session, range);
  }

  async lastSeq(session: string): Promise<number> {
    return (await this.#records.get(session)).lastSeq;
  }

  /** Whether an event may be of an earlier owner of the session: decided without any clock. */
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

  /** All sessions, with what can be read of each at one time. */
  records(): Promise<SessionRecord[]> {
    return this.#records.all();
  }

  async summaries(): Promise<SessionSummary[]> {
    return (await this.records()).map((record) => this.#shown(record));
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

  /** The term by which this server writes for the session; undefined unless it owns it. */
  term(session: string): number | undefined {
    return this.#fence.term(session);
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
    this.userCalls.removeAll(session);
    return blobs;
  }

  /** Calls the listener with new events in order, after their commit. Returns a function that unsubscribes. */
  subscribe(session: string, listener: LogListener): () => void {
    return this.#listeners.add(session, listener);
  }

  /** Of the sessions that this server owns. */
  subscribeAll(listener: FleetListener): () => void {
    return this.#listeners.addForAll(listener);
  }

  /** Calls the listener with each changed summary, also of sessions of other servers. */
  subscribeSummaries(listener: SummaryChangeListener): () => void {
    return this.#listeners.addForSummaries(listener);
  }

  /** Calls the listener when another server begins to work on a session, or no longer does. */
  onMoved(listener: MoveListener): () => void {
    return this.#listeners.addForMoves(listener);
  }

  /** Calls the listener with each session as soon as this server owns it, before anything else happens to it here. */
  onBegun(listener: BeginListener): void {
    this.#listeners.addForBegins(listener);
  }

  /** Resolves when all earlier requests are stored or refused. */
  async drained(): Promise<void> {
    await this.#writer.drained();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.drained();
  }

  #begun(session: string): void {
    this.#budget.forget(session);
    this.#listeners.publishBegin(session);
  }

  #publish({ record, events: stored }: Draft): void {
    const events = stored.map(({ event }) => event);
    if (events.length > 0) this.#listeners.publish(this.#shown(record), events);
  }

  /** With what keeps the session from going on, which is not in its log. */
  #shown({ summary }: SessionRecord): SessionSummary {
    return this.stalls.shown(this.absences.shown(this.elsewhere.shown(summary)));
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
