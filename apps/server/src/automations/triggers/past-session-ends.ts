import { Injectable } from '@nestjs/common';
import { isEvent, type Event, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { SessionsStore } from '../../logs/sessions.store.js';
import { Database } from '../../storage/database.js';
import { Clock } from '../clock.js';
import { sessionEndOf, type SessionEnd } from './session-end.js';

/** Far less than rows of deliveries are kept: an end that was taken has a row that says so. */
const longestMs = 7 * 86_400_000;
/** What a killed server left unseen is near the end of a log: the next one looks before anything goes on. */
const lastEvents = 1_000;

/** The ends that are in the logs of sessions, of which some may not have been seen: the server was killed. */
@Injectable()
export class PastSessionEnds {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Those from a time on, of the last week, in order. */
  async since(time: string): Promise<SessionEnd[]> {
    const oldest = this.#oldest();
    const from = time > oldest ? time : oldest;
    const ends: SessionEnd[] = [];
    for (const summary of await this.log.summaries())
      if (summary.updated >= from) ends.push(...(await this.#endsOf(summary)));
    return ends.filter(({ at }) => at >= from).toSorted((a, b) => (a.at < b.at ? -1 : 1));
  }

  /** Those of one session, of the last week, in order. */
  async of(summary: SessionSummary): Promise<SessionEnd[]> {
    const oldest = this.#oldest();
    return (await this.#endsOf(summary)).filter(({ at }) => at >= oldest);
  }

  #oldest(): string {
    return new Date(this.clock.now().getTime() - longestMs).toISOString();
  }

  /** With the tags that it had then: whoever changed them since was served after the end had been seen. */
  async #endsOf(summary: SessionSummary): Promise<SessionEnd[]> {
    const { id, lastSeq } = summary;
    const range = { from: lastSeq - lastEvents + 1, actions: ['state', 'change'] as const };
    const events = await this.store.ofActions(this.database.kysely, id, range);
    const changed = events.findLast(changesTags)?.seq ?? 0;
    return events.flatMap((event) =>
      event.seq > changed ? (sessionEndOf(summary, event) ?? []) : [],
    );
  }
}

const changesTags = (event: Event): boolean =>
  isEvent(event, 'change') && event.args.tags !== undefined;
