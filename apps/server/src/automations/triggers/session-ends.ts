import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  isEvent,
  occurrence,
  type AutomationTrigger,
  type Event,
  type SessionSummary,
} from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { Database } from '../../storage/database.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { Deliveries } from './deliveries.js';

type SessionTrigger = Extract<AutomationTrigger, { session: unknown }>;
type FollowingAutomation = SavedAutomation & { definition: { on: SessionTrigger } };

/** An automation may follow one that followed another, so often. */
const maxChain = 3;

interface SessionEnd {
  session: string;
  seq: number;
  at: string;
  state: SessionTrigger['session']['state'][number];
  tags: readonly string[];
}

/** Begins runs when other sessions end. Chains are bounded, and an automation does not follow itself. */
@Injectable()
export class SessionEndTrigger implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(SessionEndTrigger.name);
  #last: Promise<void> = Promise.resolve();
  #off: (() => void) | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly deliveries: Deliveries,
  ) {}

  onApplicationBootstrap(): void {
    this.#off = this.log.subscribeAll((session, events, summary) =>
      this.#follow(session, events, summary),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    this.#off?.();
    await this.#last;
  }

  /** Resolves when nothing is worked on. */
  async drained(): Promise<void> {
    await this.#last;
    await this.deliveries.drained();
  }

  #follow(session: string, events: Event[], { tags }: SessionSummary): void {
    for (const event of events) {
      if (!isEvent(event, 'state')) continue;
      const { state } = event.args;
      if (state !== 'finished' && state !== 'failed' && state !== 'limited') continue;
      const end: SessionEnd = { session, seq: event.seq, at: event.time, state, tags };
      this.#last = this.#last
        .then(() => this.#ended(end))
        .catch((error: unknown) => this.#logger.error(error));
    }
  }

  async #ended(end: SessionEnd): Promise<void> {
    const following = (await this.automations.list()).filter(follows);
    const fitting = following.filter(
      ({ state, definition }) => state === 'on' && fits(definition.on, end),
    );
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

const follows = (automation: SavedAutomation): automation is FollowingAutomation =>
  'session' in automation.definition.on;

const fits = ({ session }: SessionTrigger, { state, tags }: SessionEnd): boolean =>
  session.state.includes(state) && (session.tag === undefined || tags.includes(session.tag));
