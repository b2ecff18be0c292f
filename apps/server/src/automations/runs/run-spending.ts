import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { isEvent, type SessionSummary } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { Database } from '../../storage/database.js';
import { microdollars } from './money.js';

/**
 * Counts what a session uses after its run was settled, such as a call that was under way then, or a user who goes on
 * with it: all of it is of the month in which the run began.
 */
@Injectable()
export class RunSpending implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #logger = new Logger(RunSpending.name);
  #last: Promise<void> = Promise.resolve();
  #off: (() => void) | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
  ) {}

  onApplicationBootstrap(): void {
    this.#off = this.log.subscribeAll((_, events, summary) => {
      if (events.some((event) => isEvent(event, 'usage'))) this.#count(summary);
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.#off?.();
    await this.#last;
  }

  /** What a session used only grows. A run that is not settled yet keeps what it has reserved. */
  #count({ id, dollars }: SessionSummary): void {
    const spent = microdollars(dollars);
    this.#last = this.#last
      .then(async () => {
        await this.database.kysely
          .updateTable('automation_run')
          .set({ spent })
          .where('session', '=', id)
          .where('started', 'is not', null)
          .where('state', 'not in', ['starting', 'working'])
          .where('spent', '<', spent)
          .execute();
      })
      .catch((error: unknown) => this.#logger.error(error));
  }
}
