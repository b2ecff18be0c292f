import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { errorFrom, isEnded, wallSeconds, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { limitEvent, spentBudget } from '../logs/budgets.js';

/** The longest delay of a timer, in milliseconds; later deadlines are checked again then. */
const longest = 2 ** 31 - 1;

/**
 * Ends sessions whose time budget is used up, even during a long command. (The gateway itself checks only before and
 * during model calls.)
 */
@Injectable()
export class Deadlines implements OnModuleInit, OnModuleDestroy {
  /** Milliseconds until a session that could not be read or ended is checked again. */
  retry = 10_000;
  readonly #logger = new Logger(Deadlines.name);
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #unsubscribe: (() => void)[] = [];

  constructor(private readonly events: EventLog) {}

  onModuleInit(): void {
    this.#unsubscribe.push(
      this.events.subscribeAll((_id, events, summary) => {
        const matters = events.some(({ action }) => action === 'state' || action === 'change');
        if (matters) this.schedule(summary);
      }),
      // Another server ends it from then on.
      this.events.onMoved((id) => {
        if (!this.events.isOwned(id)) this.#cancel(id);
      }),
    );
  }

  onModuleDestroy(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  /** Ends the session when its time is used up, if it has a limit. */
  schedule({ id, state, budgets, wallTime }: SessionSummary): void {
    this.#cancel(id);
    if (isEnded(state) || budgets.seconds === null) return;
    const left = budgets.seconds - wallSeconds(wallTime, Date.now());
    this.#lookIn(id, Math.min(longest, Math.max(0, left * 1000)));
  }

  #cancel(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #lookIn(id: string, wait: number): void {
    this.#cancel(id);
    const timer = setTimeout(
      () => void this.#look(id).catch((error: unknown) => this.#failed(id, error)),
      wait,
    );
    this.#timers.set(id, timer.unref());
  }

  async #look(id: string): Promise<void> {
    const end = () =>
      this.events.append(id, (summary) => {
        const spent = isEnded(summary.state) ? null : spentBudget(summary);
        return spent?.budget === 'seconds' ? [limitEvent(spent)] : [];
      });
    await this.events.stalls.whenSpace(id, end);
    this.schedule(await this.events.summary(id));
  }

  #failed(id: string, error: unknown): void {
    const { code, message } = errorFrom(error);
    // A session that was deleted or handed over meanwhile has no deadline here.
    if (code === 'not_found' || !this.#timers.has(id)) return;
    this.#logger.warn(`The time limit of session ${id} could not be checked: ${message}`);
    this.#lookIn(id, this.retry);
  }
}
