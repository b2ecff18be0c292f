import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { isEnded, occurrence, type SessionSummary } from '@belay/protocol';
import type { OnLead } from '../../storage/on-lead.js';
import { EventLog } from '../../logs/event-log.js';
import { Database } from '../../storage/database.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Deliveries } from './deliveries.js';
import { PastSessionEnds } from './past-session-ends.js';
import { sessionEndOf, type SessionEnd, type SessionTrigger } from './session-end.js';

type FollowingAutomation = SavedAutomation & { definition: { on: SessionTrigger } };

/** An automation may follow one that followed another, so often. */
const maxChain = 3;

const retryMs = 60_000;

/**
 * Begins runs when other sessions end. Chains are bounded, and an automation does not follow itself. An end has one delivery
 * id, so that those that a killed server may not have seen are all taken again at the next start.
 */
@Injectable()
export class SessionEndTrigger implements OnLead, OnApplicationShutdown {
  readonly #logger = new Logger(SessionEndTrigger.name);
  #last: Promise<void> = Promise.resolve();
  #offs: (() => void)[] = [];
  #retry: (() => void) | undefined;
  #isClosed = false;

  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly deliveries: Deliveries,
    private readonly past: PastSessionEnds,
    private readonly clock: Clock,
  ) {}

  onLead(): void {
    this.#offs = [
      this.log.subscribeAll((_, events, summary) => {
        for (const event of events) this.#follow(sessionEndOf(summary, event));
      }),
      // Of the sessions of other servers, this one is told no events.
      this.log.subscribeSummaries((session, summary) => {
        if (summary && isEnded(summary.state) && !this.log.isOwned(session))
          this.#work(() => this.#endedElsewhere(summary));
      }),
    ];
    this.#work(() => this.#catchUp());
  }

  async onApplicationShutdown(): Promise<void> {
    for (const off of this.#offs) off();
    this.#retry?.();
    this.#isClosed = true;
    await this.#last;
  }

  /** Resolves when nothing is worked on. */
  async drained(): Promise<void> {
    await this.#last;
    await this.deliveries.drained();
  }

  #follow(end: SessionEnd | undefined): void {
    if (end) this.#work(() => this.#ended(end, () => true));
  }

  /** One after the other. What fails is made up for like what a killed server left. */
  #work(work: () => Promise<void>): void {
    this.#last = this.#last.then(work).catch((error: unknown) => {
      this.#logger.error(error);
      if (this.#isClosed) return;
      const time = new Date(this.clock.now().getTime() + retryMs);
      this.#retry?.();
      this.#retry = this.clock.at(time, () => this.#work(() => this.#catchUp()));
    });
  }

  /** Ends before an automation was changed or switched on were none of its own. */
  async #catchUp(): Promise<void> {
    const following = (await this.automations.list()).filter(isFollowing);
    const since = following.map(({ updated }) => updated).toSorted()[0];
    if (since === undefined) return;
    await this.#take(await this.past.since(since));
  }

  async #endedElsewhere(summary: SessionSummary): Promise<void> {
    await this.#take(await this.past.of(summary));
  }

  /** Each of them may have been taken before. */
  async #take(ends: readonly SessionEnd[]): Promise<void> {
    for (const end of ends) {
      if (this.#isClosed) return;
      await this.#ended(end, ({ updated }) => updated <= end.at);
    }
  }

  async #ended(end: SessionEnd, isTold: (automation: SavedAutomation) => boolean): Promise<void> {
    const fitting = (await this.automations.list())
      .filter(isFollowing)
      .filter((automation) => isTold(automation) && fits(automation.definition.on, end));
    if (fitting.length === 0) return;
    const chain = await this.#chainOf(end.session);
    const [beginner] = chain;
    for (const automation of fitting) {
      const name = automation.definition.on.session.automation;
      if (name !== undefined && (await this.#nameOf(beginner)) !== name) continue;
      await this.#tell(automation, end, chain);
    }
  }

  async #tell(
    { id }: SavedAutomation,
    { session, seq, at }: SessionEnd,
    chain: readonly string[],
  ): Promise<void> {
    const key = `session:${session}:${seq}`;
    const [beginner] = chain;
    await this.deliveries.receive({
      source: id,
      transport: 'session',
      delivery: key,
      event: 'session.ended',
      ...(beginner === id
        ? { ignored: 'The automation began this session itself.' }
        : chain.length > maxChain
          ? {
              refused: `Sessions of automations follow each other ${maxChain} times at most: this would be one more.`,
            }
          : { occurrence: { event: 'session.ended', key, at, actor: null, session } }),
    });
  }

  /** The automations that began a session, and the sessions that led to it: the nearest first, one more than may be. */
  async #chainOf(session: string): Promise<string[]> {
    const chain: string[] = [];
    for (let at: string | undefined = session; at !== undefined && chain.length <= maxChain;) {
      const run = await this.database.kysely
        .selectFrom('automation_run')
        .select(['automation', 'occurrence'])
        .where('session', '=', at)
        .executeTakeFirst();
      if (!run) break;
      chain.push(run.automation);
      at = occurrence.safeParse(JSON.parse(run.occurrence)).data?.session;
    }
    return chain;
  }

  async #nameOf(automation: string | undefined): Promise<string | undefined> {
    return automation === undefined ? undefined : (await this.automations.find(automation))?.name;
  }
}

const isFollowing = (automation: SavedAutomation): automation is FollowingAutomation =>
  automation.state === 'on' && 'session' in automation.definition.on;

const fits = ({ session }: SessionTrigger, { state, tags }: SessionEnd): boolean =>
  session.state.includes(state) && (session.tag === undefined || tags.includes(session.tag));
