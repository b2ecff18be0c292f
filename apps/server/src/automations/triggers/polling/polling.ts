import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, spanMs, type ForgeEvent, type ForgeTrigger } from '@belay/protocol';
import type { OnLead } from '../../../storage/on-lead.js';
import { KeyedMutex } from '../../../storage/keyed-mutex.js';
import { Clock } from '../../clock.js';
import { AutomationsStore } from '../../definitions/automations.store.js';
import { ForgeSources } from '../../forges/forge-sources.js';
import { Forges } from '../../forges/forges.js';
import { Deliveries } from '../deliveries.js';
import { forgeTriggers } from '../forge-questions.js';
import type { PolledItem, PolledList, PollQuery } from './polled-lists.js';
import { PollLists } from './poll-lists.js';

/** How often is looked for what is due. */
const tickMs = 15_000;
/** What hosts list late, or date earlier. */
const overlapMs = 120_000;
/** With a webhook, polling only finds what the webhook missed. */
const besideWebhookMs = 600_000;
/** What happened before is not caught up with after a long pause. */
const oldestMs = 3 * 86_400_000;
const longestPauseMs = 3_600_000;
const maxSeen = 5_000;

type SourceRow = Awaited<ReturnType<ForgeSources['list']>>[number];

/**
 * Asks the git hosts what happened, for servers that webhooks do not reach and for webhooks that were lost: no host sends
 * them again by itself, so each start asks once in any case. What is found has the same keys as webhooks.
 */
@Injectable()
export class Polling implements OnLead, OnApplicationShutdown {
  readonly #logger = new Logger(Polling.name);
  readonly #mutex = new KeyedMutex();
  readonly #failures = new Map<string, number>();
  /** Sources that were asked once since the start. */
  readonly #caughtUp = new Set<string>();
  readonly #busy = new Set<Promise<void>>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(
    private readonly automations: AutomationsStore,
    private readonly sources: ForgeSources,
    private readonly forges: Forges,
    private readonly deliveries: Deliveries,
    private readonly lists: PollLists,
    private readonly clock: Clock,
  ) {}

  onLead(): void {
    this.#tick();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    await this.drained();
  }

  /** Resolves when nothing is asked. */
  async drained(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
    await this.deliveries.drained();
  }

  #tick(): void {
    if (this.#isClosed) return;
    if (this.#busy.size === 0) {
      const work = this.#round()
        .catch((error: unknown) => this.#logger.error(error))
        .finally(() => this.#busy.delete(work));
      this.#busy.add(work);
    }
    const time = new Date(this.clock.now().getTime() + tickMs);
    this.#cancel = this.clock.at(time, () => this.#tick());
  }

  async #round(): Promise<void> {
    const sources = await this.sources.list();
    // One host is asked one thing at a time.
    await Promise.all(
      sources.map((source) => this.#mutex.run(source.host, () => this.#source(source))),
    );
  }

  async #source(source: SourceRow): Promise<void> {
    if (this.lists.isPaused(source.id, this.clock.now())) return;
    const triggers = await forgeTriggers(this.automations, source.host, source.repository);
    const isFirst = !this.#caughtUp.has(source.id);
    const every = isFirst ? 0 : intervalOf(triggers, source.hook_id !== null);
    if (triggers.length === 0 || every === undefined || this.#isClosed) return;
    const wanted = new Set(triggers.flatMap(({ event }) => event));
    try {
      const forge = this.forges.open(source.host, source.repository);
      for (const list of this.lists.of(forge.kind))
        if (list.events.some((event) => wanted.has(event)))
          await this.#list(source, list, { forge, wanted, every, isCatchUp: isFirst });
      this.#caughtUp.add(source.id);
    } catch (error) {
      await this.#failed(source, error);
    }
  }

  async #list(
    source: SourceRow,
    list: PolledList,
    options: {
      forge: PollQuery['forge'];
      wanted: ReadonlySet<ForgeEvent>;
      every: number;
      isCatchUp: boolean;
    },
  ): Promise<void> {
    const { forge, wanted, every, isCatchUp } = options;
    const time = this.clock.now();
    const cursor = await this.lists.cursors.of(source.id, list.name);
    if (cursor && !isCatchUp && new Date(cursor.nextAt) > time) return;
    const now = time.toISOString();
    const nextAt = (pause: number): string => new Date(time.getTime() + pause).toISOString();
    if (!cursor && list.isSnapshot !== true)
      return this.lists.cursors.set(source.id, list.name, {
        etag: null,
        since: now,
        seen: [],
        nextAt: nextAt(every),
      });
    const from = beginOf(source, cursor?.since ?? now, time);
    const since = new Date(from).toISOString().replace(/\.\d+Z$/, 'Z');
    const { etag = null, seen = [] } = cursor ?? {};
    const query = { forge, wanted, since, now, seen, etag, isFirst: !cursor };
    const answer = await list.read(query);
    const fresh = answer.items.filter(({ id }) => !seen.includes(id));
    for (const item of fresh) await this.#receive(source, list, item, since);
    await this.lists.cursors.set(source.id, list.name, {
      etag: answer.etag ?? null,
      since: now,
      seen: answer.seen ?? [...seen, ...fresh.map(({ id }) => id)].slice(-maxSeen),
      nextAt: nextAt(Math.max(every, answer.pollAfterMs ?? 0)),
    });
    this.#failures.delete(source.id);
    await this.sources.noteProblem(source.id, null);
  }

  async #receive(
    source: SourceRow,
    list: PolledList,
    { id, occurrence }: PolledItem,
    since: string,
  ): Promise<void> {
    if (Date.parse(occurrence.at) < Date.parse(since)) return;
    await this.deliveries.receive({
      source: source.id,
      transport: 'poll',
      delivery: `${list.name} ${id}`,
      event: occurrence.event,
      occurrence,
    });
  }

  /** What fails is asked less and less often, and told where its repository is listed. */
  async #failed(source: SourceRow, error: unknown): Promise<void> {
    if (this.#isClosed) return;
    if (!(error instanceof AppError)) this.#logger.error(error);
    const why = error instanceof AppError ? error.message : 'It failed: see the server’s log.';
    const wait = error instanceof AppError ? error.details?.['retryAfterMs'] : undefined;
    const failures = (this.#failures.get(source.id) ?? 0) + 1;
    this.#failures.set(source.id, failures);
    const pause =
      typeof wait === 'number' ? wait : Math.min(longestPauseMs, 30_000 * 2 ** failures);
    this.lists.pause(source.id, new Date(this.clock.now().getTime() + pause));
    // A host that only wants a pause is as it should be.
    if (typeof wait !== 'number') await this.sources.noteProblem(source.id, why);
  }
}

/** Nothing that happened before the repository was followed begins a run. */
const beginOf = ({ created }: SourceRow, since: string, now: Date): number =>
  Math.max(Date.parse(since) - overlapMs, now.getTime() - oldestMs, Date.parse(created));

/** The shortest that an automation wants; undefined if webhooks are enough for all. */
function intervalOf(triggers: readonly ForgeTrigger[], hasHook: boolean): number | undefined {
  const all = triggers.flatMap(({ by, every }) => {
    if (by === 'webhook') return [];
    const isBeside = by === 'both' && hasHook;
    return [Math.max(spanMs(every), isBeside ? besideWebhookMs : 0)];
  });
  return all.length === 0 ? undefined : Math.min(...all);
}
