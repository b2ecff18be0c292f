import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, isForgeTrigger, occurrence, type Occurrence } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { Database } from '../../storage/database.js';
import { Clock } from '../clock.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { dryKey } from './run-decisions.js';
import { newRunRow, RunIntake } from './run-intake.js';
import { RunsStore } from './runs.store.js';

/** What a user who begins a run by hand asks for. */
export interface RunWish {
  number?: number | undefined;
  branch?: string | undefined;
  /** The id of a delivery to repeat. */
  delivery?: string | undefined;
  /** Decide only. */
  dry: boolean;
}

/** Makes runs that users ask for. */
@Injectable()
export class RunRequests {
  constructor(
    private readonly database: Database,
    private readonly runs: RunsStore,
    private readonly intake: RunIntake,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the id of the new run. Throws `not_found` for a delivery that is not the automation’s, and `invalid_input`
   * without the number of what it needs to be about.
   */
  async make(automation: SavedAutomation, wish: RunWish, caller: Caller): Promise<string> {
    const now = this.clock.now();
    const repeated =
      wish.delivery === undefined ? undefined : await this.#delivery(automation, wish.delivery);
    if (!repeated) assertNamesSubject(automation, wish);
    const about = repeated ?? this.#byHand(wish);
    // A repetition is another run of the same thing.
    const key = `${wish.dry ? dryKey : 'hand:'}${randomUUID()}`;
    const row = newRunRow(
      automation,
      { ...about, key },
      {
        delivery: wish.delivery ?? null,
        now,
        decisions: [
          {
            check: 'hand',
            holds: true,
            why: `${caller.label} began it by hand.`,
          },
        ],
      },
    );
    await this.runs.insert(row);
    return row.id;
  }

  #byHand({ number, branch }: RunWish): Occurrence {
    return {
      event: 'hand',
      key: 'hand',
      at: this.clock.now().toISOString(),
      actor: null,
      ...(number !== undefined && { number }),
      ...(branch !== undefined && { branch }),
    };
  }

  async #delivery(automation: SavedAutomation, id: string): Promise<Occurrence> {
    const row = await this.database.kysely
      .selectFrom('automation_delivery')
      .select(['source', 'occurrence'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row?.occurrence) {
      const about = occurrence.parse(JSON.parse(row.occurrence));
      if (await this.intake.fits(automation, { source: row.source, occurrence: about }))
        return about;
    }
    throw new AppError(
      'not_found',
      `${automation.name} has no delivery ${id.slice(0, 100)} that its trigger fits. List them: belay automations deliveries ${automation.name}`,
    );
  }
}

/** Without it, a session would have the task to fix an issue and no issue. */
function assertNamesSubject(
  { name, definition: { on } }: SavedAutomation,
  { number }: RunWish,
): void {
  if (number !== undefined || !isForgeTrigger(on)) return;
  if ([on.event].flat().every((event) => /^(?:issue|pull)\./.test(event)))
    throw new AppError(
      'invalid_input',
      `${name} is about an issue or a pull request. Name its number: belay automations run ${name} --number 12`,
    );
}
