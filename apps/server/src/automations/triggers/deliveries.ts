import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  isForgeTrigger,
  type DeliveryRow,
  type Occurrence,
  type PageQuery,
} from '@belay/protocol';
import type { OnLead } from '../../storage/on-lead.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import { ForgeSources } from '../forges/forge-sources.js';
import { RunIntake } from '../runs/run-intake.js';
import {
  DeliveryRows,
  type DeliveryState,
  type NewDelivery,
  type OpenDelivery,
} from './delivery-rows.js';
import { ForgeQuestions, notWanted } from './forge-questions.js';

const dayMs = 86_400_000;
/** After these minutes it is tried again; then it is refused, so that nothing waits for ever. */
const retryMinutes = [1, 2, 5, 15, 60];
/** A webhook of a busy day must not have work without end. */
const maxFound = 50;

/**
 * What was learned of, whichever way: a row first, then runs. A killed server takes up what has a row and no verdict, and
 * what comes twice is taken once.
 */
@Injectable()
export class Deliveries implements OnLead, OnApplicationShutdown {
  readonly #logger = new Logger(Deliveries.name);
  readonly #working = new Map<string, Promise<void>>();
  readonly #tries = new Map<string, number>();
  readonly #timers = new Map<string, () => void>();
  #isClosed = false;

  constructor(
    private readonly rows: DeliveryRows,
    private readonly intake: RunIntake,
    private readonly questions: ForgeQuestions,
    private readonly automations: AutomationsStore,
    private readonly sources: ForgeSources,
    private readonly clock: Clock,
  ) {}

  async onLead(): Promise<void> {
    this.#clean();
    for (const open of await this.rows.open()) this.#begin(open);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    await this.drained();
  }

  /** Stores it, and makes runs of it afterwards. `duplicate` for what is known already. */
  async receive(given: NewDelivery): Promise<{ id: string; state: DeliveryState }> {
    const { id, state, open } = await this.rows.insert(given);
    if (open) this.#begin(open);
    return { id, state };
  }

  /** What was learned of for an automation: newest first, and one more than the limit if there are more. */
  async list(automation: string, page: PageQuery): Promise<DeliveryRow[]> {
    const { id, definition } = await this.automations.require(automation);
    const { on } = definition;
    const source = isForgeTrigger(on) ? await this.sources.of(on.host, on.repository) : undefined;
    return this.rows.page([id, ...(source ? [source.id] : [])], id, page);
  }

  /** What a delivery was about, to repeat it. */
  occurrenceOf(id: string): Promise<Occurrence | undefined> {
    return this.rows.occurrenceOf(id);
  }

  /** Resolves when nothing is worked on. */
  async drained(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working.values());
  }

  #begin(open: OpenDelivery): void {
    if (this.#isClosed || this.#working.has(open.id)) return;
    const work = this.#settle(open)
      .catch((error: unknown) => this.#failed(open, error))
      .finally(() => this.#working.delete(open.id));
    this.#working.set(open.id, work);
  }

  async #settle(open: OpenDelivery): Promise<void> {
    const { id, source, occurrence } = open;
    if (open.asks) return this.#ask(open);
    const made = await this.intake.take({ id, source, occurrence });
    const runs = made.length > 0 ? made : ((await this.rows.runsOf([id])).get(id) ?? []);
    const isWanted = runs.length > 0;
    await this.rows.finish(
      id,
      isWanted ? 'done' : 'ignored',
      isWanted ? null : notWanted(occurrence.event),
    );
    this.#tries.delete(id);
  }

  /** The first occurrence takes the row’s place; each other one has a row of its own. */
  async #ask(open: OpenDelivery): Promise<void> {
    const { found, why } = await this.questions.answer(open.source, open.occurrence);
    const { source, transport, delivery, event } = open;
    const fresh = await this.#unknown(source, found);
    const [first = found[0], ...others] = fresh.slice(0, maxFound);
    if (!first) return this.rows.finish(open.id, 'ignored', why);
    for (const occurrence of others)
      await this.receive({
        source,
        transport,
        delivery: `${delivery} ${occurrence.key}`,
        event,
        occurrence,
      });
    if (await this.rows.answer(open.id, first))
      await this.#settle({ ...open, occurrence: first, asks: false });
  }

  /** What is known already must not be in the way of what is not: each webhook of a busy minute finds all of it. */
  async #unknown(source: string, found: readonly Occurrence[]): Promise<Occurrence[]> {
    const known = await Promise.all(found.map(({ key }) => this.rows.knows(source, key)));
    return found.filter((_, at) => !known[at]);
  }

  async #failed(open: OpenDelivery, error: unknown): Promise<void> {
    const tries = this.#tries.get(open.id) ?? 0;
    const minutes = retryMinutes[tries];
    if (!(error instanceof AppError)) this.#logger.error(error);
    if (this.#isClosed) return;
    if (minutes !== undefined && !isFinal(error)) {
      this.#tries.set(open.id, tries + 1);
      const time = new Date(this.clock.now().getTime() + minutes * 60_000);
      this.#timers.set(
        open.id,
        this.clock.at(time, () => {
          this.#timers.delete(open.id);
          this.#begin(open);
        }),
      );
      return;
    }
    this.#tries.delete(open.id);
    const why = error instanceof AppError ? error.message : 'It failed: see the server’s log.';
    await this.rows
      .finish(open.id, 'refused', why)
      .catch((unstored: unknown) => this.#logger.error(unstored));
  }

  /** Removes what is old, now and each day. */
  #clean(): void {
    const work = this.rows
      .removeOld()
      .catch((error: unknown) => this.#logger.warn(error))
      .finally(() => this.#working.delete('clean'));
    this.#working.set('clean', work);
    const time = new Date(this.clock.now().getTime() + dayMs);
    this.#timers.set(
      'clean',
      this.clock.at(time, () => this.#clean()),
    );
  }
}

/** The host says that asking again changes nothing. */
const isFinal = (error: unknown): boolean =>
  error instanceof AppError && ['not_found', 'forbidden', 'invalid_input'].includes(error.code);
