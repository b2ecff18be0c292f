import { Injectable } from '@nestjs/common';
import { isForgeTrigger, pluralText, type Occurrence } from '@belay/protocol';
import type { Insertable } from 'kysely';
import { newSessionId } from '../../sessions/session-creation.js';
import type { AutomationRunTable } from '../../storage/automation-tables.js';
import { Database } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import { exclusively } from '../../storage/exclusively.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import { ForgeSources } from '../forges/forge-sources.js';
import type { RunDecision } from '../run-record.js';
import { LaneResets } from './lane-resets.js';
import { runKeyOf } from './run-key.js';
import { isSameRepository, laneOf, runSubjectOf } from './run-subject.js';
import { RunsStore } from './runs.store.js';

/** Something that was learned of: `source` is the id of a repository’s source, or of an automation. */
export interface TakenDelivery {
  id: string;
  source: string;
  occurrence: Occurrence;
}

/** Makes the runs of what was learned of. They are decided about later: each has a row from the start. */
@Injectable()
export class RunIntake {
  readonly #listeners = new Set<() => void>();

  constructor(
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly sources: ForgeSources,
    private readonly runs: RunsStore,
    private readonly resets: LaneResets,
    private readonly clock: Clock,
  ) {}

  /**
   * One run for each automation that is on and whose trigger fits, and the delivery is done if there is any, in one
   * transaction: what a killed server left is taken again as a whole. Lanes that it lets go on do so before. What is part of
   * a review whose run there is already is ignored, and says so. Returns the ids of the new runs.
   */
  async take(delivery: TakenDelivery): Promise<string[]> {
    const repository = await this.sources.find(delivery.source);
    const reset = repository ? await this.resets.after(repository, delivery.occurrence) : [];
    const why = reset.length > 0 ? `It lets ${pluralText(reset.length, 'lane')} go on.` : null;
    const fitting = await this.#fitting(delivery, repository);
    // Two servers must not begin two runs of one review.
    const made = await exclusively(this.database, 'automation_delivery', async (connection) => {
      const ids: string[] = [];
      let part: string | undefined;
      for (const automation of fitting) {
        const { id, isNew } = await this.#insert(automation, delivery, connection);
        if (isNew) ids.push(id);
        else part ??= id;
      }
      const isPart = part !== undefined && delivery.occurrence.review !== undefined;
      const state = ids.length === 0 && why === null ? 'ignored' : 'done';
      // Else, whoever received it says what it was.
      if (state === 'ignored' && !isPart) return ids;
      await connection
        .updateTable('automation_delivery')
        .set({ state, why: state === 'ignored' ? partOf(part) : why })
        .where('id', '=', delivery.id)
        .where('state', '=', 'received')
        .execute();
      return ids;
    });
    if (made.length > 0 || why !== null) for (const listener of this.#listeners) listener();
    return made;
  }

  /** Whether the automation’s trigger fits, whether it is on or not. */
  async fits(
    automation: SavedAutomation,
    { source, occurrence }: Omit<TakenDelivery, 'id'>,
  ): Promise<boolean> {
    const repository = await this.sources.find(source);
    return isFor(automation, { source, repository, occurrence });
  }

  /** Calls the listener when there are new runs. Returns a function that unsubscribes. */
  onTaken(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #fitting(
    { source, occurrence }: TakenDelivery,
    repository: Origin['repository'],
  ): Promise<SavedAutomation[]> {
    const all = (await this.automations.list()).filter(({ state }) => state === 'on');
    return all.filter((automation) => isFor(automation, { source, repository, occurrence }));
  }

  async #insert(
    automation: SavedAutomation,
    { id: delivery, occurrence }: TakenDelivery,
    connection: DatabaseConnection,
  ): Promise<{ id: string; isNew: boolean }> {
    const { key, same, waitMs } = runKeyOf(automation.definition, occurrence);
    const known = await connection
      .selectFrom('automation_run')
      .select('id')
      .where('automation', '=', automation.id)
      .where('event_key', 'in', same)
      .executeTakeFirst();
    if (known) return { id: known.id, isNew: false };
    const now = this.clock.now();
    const due = new Date(now.getTime() + waitMs).toISOString();
    const made = newRunRow(automation, occurrence, { delivery, now });
    const row = { ...made, event_key: key, due };
    const isNewest = await this.#replaceOlder(row, occurrence, connection);
    const decided = isNewest ? row : { ...row, ...outdated, ended: row.created };
    await this.runs.insert(decided, connection);
    return { id: row.id, isNew: true };
  }

  /** Of the heads of a pull request that wait, only the newest counts. False if a newer one waits already. */
  async #replaceOlder(
    { id, automation, event_key: key, created }: Insertable<AutomationRunTable>,
    { event, number, at }: Occurrence,
    connection: DatabaseConnection,
  ): Promise<boolean> {
    if (event !== 'pull.updated' || number === undefined) return true;
    const waiting = await connection
      .selectFrom('automation_run')
      .select(['id', 'occurrence', 'event_key'])
      .where('automation', '=', automation)
      .where('event', '=', event)
      .where('subject', '=', `#${number}`)
      .where('state', 'in', ['pending', 'queued'])
      .execute();
    // The same head again changes nothing.
    if (waiting.some((row) => row.event_key === key)) return true;
    const older = waiting.filter(
      (row) => Date.parse((JSON.parse(row.occurrence) as Occurrence).at) <= Date.parse(at),
    );
    if (older.length > 0) {
      const { numUpdatedRows: replaced } = await connection
        .updateTable('automation_run')
        .set({ ...outdated, ended: created, why: `A newer commit was pushed: see the run ${id}.` })
        .where(
          'id',
          'in',
          older.map((row) => row.id),
        )
        .where('state', 'in', ['pending', 'queued'])
        .executeTakeFirst();
      this.runs.countEntered(outdated.state, Number(replaced));
    }
    return older.length === waiting.length;
  }
}

const partOf = (run = ''): string => `Part of a review, which began the run ${run}.`;

const outdated = { state: 'skipped', code: 'newer', why: 'A newer commit was pushed.' } as const;

interface Origin extends Omit<TakenDelivery, 'id'> {
  /** Of a source. */
  repository: { host: string; repository: string } | undefined;
}

/** An occurrence is for the automation that it names, or for those of its repository whose trigger it fits. */
function isFor({ id, definition: { on } }: SavedAutomation, origin: Origin): boolean {
  if (!isForgeTrigger(on)) return id === origin.source;
  const { repository: from, occurrence } = origin;
  const { event, label, command } = occurrence;
  if (from?.host !== on.host || !isSameRepository(from.repository, on.repository)) return false;
  if (![on.event].flat().some((wanted) => wanted === event)) return false;
  if (event.endsWith('.labelled') && on.label !== undefined && on.label !== label) return false;
  return !event.endsWith('.command') || on.command === undefined || on.command === command;
}

/** A run that nothing has decided about. */
export function newRunRow(
  { id: automation, version, definition }: SavedAutomation,
  occurrence: Occurrence,
  {
    delivery,
    now,
    decisions = [],
  }: { delivery: string | null; now: Date; decisions?: RunDecision[] },
): Insertable<AutomationRunTable> & { id: string; created: string } {
  const created = now.toISOString();
  return {
    id: `r-${newSessionId()}`,
    automation,
    version,
    event: occurrence.event,
    event_key: occurrence.key,
    delivery,
    occurrence: JSON.stringify(occurrence),
    lane: laneOf(definition, occurrence),
    subject: runSubjectOf(occurrence),
    findings: '{}',
    decisions: JSON.stringify(decisions),
    state: 'pending',
    code: null,
    why: null,
    session: null,
    due: created,
    result: null,
    created,
    started: null,
    ended: null,
  };
}
