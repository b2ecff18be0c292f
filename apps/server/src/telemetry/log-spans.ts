import { Logger } from '@nestjs/common';
import { isEnded, isEvent, NewestMap, type Event } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import type { SessionsStore } from '../logs/sessions.store.js';
import type { FinishedSpan } from './finished-span.js';
import { SessionSpans } from './session-spans.js';

/** More sessions than that are never at work at once; a session whose last call never ends must not stay for good. */
const mostSessions = 10_000;
/** Events that are read at once. */
const page = 500;

type Listener = (span: FinishedSpan) => void;

/**
 * The spans of all sessions, from their logs. What was under way when an earlier process of the server ended is read
 * from the log at the session’s next event, so that a turn may span a restart; its spans that had ended are not
 * repeated.
 */
export class LogSpans {
  readonly #logger = new Logger(LogSpans.name);
  readonly #sessions = new NewestMap<string, SessionSpans>(mostSessions);
  /** Sessions that were at work when this process began, or that it has begun to work on, until their next event. */
  readonly #earlier = new Set<string>();
  /** New events of the sessions whose logs are being read. */
  readonly #reading = new Map<string, { events: Event[]; done: Promise<void> }>();
  readonly #unsubscribe: () => void;
  /** Events from before it was known which sessions are at work. */
  #early: [session: string, events: Event[]][] | undefined = [];
  #listener: Listener = () => undefined;

  /** Create it before anything appends to a log. */
  constructor(
    private readonly log: Pick<EventLog, 'summaries' | 'subscribeAll' | 'onBegun' | 'read'>,
    private readonly store: Pick<SessionsStore, 'latest'>,
    private readonly options: { content: boolean },
  ) {
    log.onBegun((session) => this.#earlier.add(session));
    this.#unsubscribe = log.subscribeAll((session, events) => {
      if (this.#early) this.#early.push([session, events]);
      else this.#take(session, events);
    });
  }

  /** From now on the listener gets each span once it has ended, also those that have ended since the constructor. */
  async follow(listener: Listener): Promise<void> {
    this.#listener = listener;
    const summaries = await this.log.summaries();
    for (const { id, state } of summaries) if (!isEnded(state)) this.#earlier.add(id);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const [session] of early) this.#earlier.add(session);
    for (const [session, events] of early) this.#take(session, events);
  }

  /** Resolves when the spans of all events so far were passed on. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#reading.values()].map(({ done }) => done));
  }

  #take(session: string, events: readonly Event[]): void {
    const [first] = events;
    if (!first) return;
    const reading = this.#reading.get(session);
    if (reading) return void reading.events.push(...events);
    const known = this.#sessions.get(session);
    const hasEarlier = this.#earlier.delete(session) && first.seq > 1;
    // Another server may have written to the log since this one did.
    if (hasEarlier && known?.lastSeq !== first.seq - 1)
      this.#readEarlier(session, first.seq, [...events]);
    else this.#pass(session, known ?? this.#added(session), events);
  }

  #readEarlier(session: string, before: number, events: Event[]): void {
    const spans = this.#added(session);
    const done = this.#replay(session, before, spans)
      .catch((error: unknown) => this.#logger.warn(error))
      .then(() => {
        this.#reading.delete(session);
        this.#pass(session, spans, events);
      });
    this.#reading.set(session, { events, done });
  }

  /** The spans that ended in these events were passed on by the process that wrote them. */
  async #replay(session: string, before: number, spans: SessionSpans): Promise<void> {
    const [start, state] = await Promise.all([
      this.store.latest(session, 'start', before - 1),
      this.store.latest(session, 'state', before - 1),
    ]);
    const begun = start?.seq ?? 1;
    // Nothing is under way in a session that has ended and starts again.
    if (state && isEvent(state, 'state') && isEnded(state.args.state) && state.seq > begun) return;
    let after = begun - 1;
    while (after < before - 1) {
      const limit = Math.min(page, before - 1 - after);
      const events = await this.log.read(session, { after, limit });
      const last = events.at(-1);
      if (!last) return;
      spans.add(events);
      after = last.seq;
    }
  }

  #added(session: string): SessionSpans {
    const spans = new SessionSpans(session, this.options);
    this.#sessions.set(session, spans);
    return spans;
  }

  #pass(session: string, spans: SessionSpans, events: readonly Event[]): void {
    for (const span of spans.add(events)) this.#listener(span);
    if (spans.isIdle) this.#sessions.delete(session);
  }
}
