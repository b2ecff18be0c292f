import { Injectable } from '@nestjs/common';
import {
  AppError,
  endedRunStates,
  occurrence,
  runFindings,
  type AutomationDefinition,
  type PageQuery,
  type RunFindings,
  type RunState,
} from '@belay/protocol';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { AutomationCounts } from '../automation-counts.js';
import { Clock } from '../clock.js';
import { AutomationsStore } from '../definitions/automations.store.js';
import type { SavedAutomation } from '../definitions/saved-automation.js';
import type { AutomationRunTable } from '../../storage/automation-tables.js';
import { Database, notStored } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import type { RunDecision, RunRecord, PublishedResult } from '../run-record.js';

/** A run with the time at which it goes on; before that it waits. */
export interface StoredRun extends RunRecord {
  due: string;
}

/** What changes of a run; everything else stays. */
export interface RunChange extends Partial<
  Pick<
    Selectable<AutomationRunTable>,
    'code' | 'why' | 'session' | 'due' | 'reserved' | 'spent' | 'lane' | 'started' | 'ended'
  >
> {
  state?: RunState;
  findings?: RunFindings;
  decisions?: RunDecision[];
  result?: PublishedResult;
}

const defaultPage = 100;
/** Definitions of versions never change. */
const keptDefinitions = 500;

/** The rows of runs. Every change is conditional on the state that its author saw, so that each step is made once. */
@Injectable()
export class RunsStore {
  readonly #definitions = new Map<string, AutomationDefinition>();

  constructor(
    private readonly database: Database,
    private readonly automations: AutomationsStore,
    private readonly clock: Clock,
    private readonly counts: AutomationCounts,
  ) {}

  async find(id: string): Promise<StoredRun | undefined> {
    const row = await this.#all().where('id', '=', id).executeTakeFirst();
    return row && (await this.#records([row]))[0];
  }

  async require(id: string): Promise<StoredRun> {
    const found = await this.find(id);
    if (found) return found;
    throw new AppError(
      'not_found',
      `There is no run ${id.slice(0, 100)}. See: belay automations history NAME`,
    );
  }

  async ofSession(session: string): Promise<StoredRun | undefined> {
    const row = await this.#all().where('session', '=', session).executeTakeFirst();
    return row && (await this.#records([row]))[0];
  }

  /** The oldest first. */
  async unfinished(): Promise<StoredRun[]> {
    const rows = await this.#all()
      .where('state', 'not in', [...endedRunStates])
      .orderBy('id')
      .execute();
    return this.#records(rows);
  }

  /** The newest first. */
  async ofAutomation(automation: string, { limit, after }: PageQuery = {}): Promise<StoredRun[]> {
    let query = this.#all().where('automation', '=', automation).orderBy('id', 'desc');
    if (after !== undefined) query = query.where('id', '<', after);
    return this.#records(await query.limit(limit ?? defaultPage).execute());
  }

  /** The newest of each of these automations, the newest first. */
  async latestOf(automations: readonly string[], limit: number): Promise<Map<string, StoredRun[]>> {
    if (automations.length === 0) return new Map();
    const numbered = this.database.kysely
      .selectFrom('automation_run')
      .select((select) => [
        'id',
        select.fn
          .agg<number | string>('row_number')
          .over((over) => over.partitionBy('automation').orderBy('id', 'desc'))
          .as('place'),
      ])
      .where('automation', 'in', automations)
      .as('numbered');
    const rows = await this.#all()
      .where('id', 'in', (select) =>
        select.selectFrom(numbered).select('numbered.id').where('numbered.place', '<=', limit),
      )
      .orderBy('id', 'desc')
      .execute();
    return Map.groupBy(await this.#records(rows), ({ automation }) => automation.id);
  }

  /** The number of runs of each of these automations that wait for their turn; none is missing. */
  async waitingOf(automations: readonly string[]): Promise<Map<string, number>> {
    if (automations.length === 0) return new Map();
    const rows = await this.database.kysely
      .selectFrom('automation_run')
      .select((select) => ['automation', select.fn.countAll<number | string>().as('count')])
      .where('automation', 'in', automations)
      .where('state', 'in', ['pending', 'queued'])
      .groupBy('automation')
      .execute();
    return new Map(rows.map(({ automation, count }) => [automation, Number(count)]));
  }

  /** False if there is a run of this automation for the same event key. */
  async insert(
    row: Insertable<AutomationRunTable>,
    connection?: DatabaseConnection,
  ): Promise<boolean> {
    const { numInsertedOrUpdatedRows: inserted } = await (connection ?? this.database.kysely)
      .insertInto('automation_run')
      .values(row)
      .onConflict((conflict) => conflict.columns(['automation', 'event_key']).doNothing())
      .executeTakeFirst()
      .catch(notStored);
    if (inserted !== 1n) return false;
    this.counts.add('runs', { state: row.state as RunState });
    return true;
  }

  /** Changes a run that is in this state; false if it is not any more. */
  async change(
    { id, state }: Pick<RunRecord, 'id' | 'state'>,
    change: RunChange,
    connection?: DatabaseConnection,
  ): Promise<boolean> {
    const { numUpdatedRows } = await (connection ?? this.database.kysely)
      .updateTable('automation_run')
      .set(columnsOf(change))
      .where('id', '=', id)
      .where('state', '=', state)
      .executeTakeFirst()
      .catch(notStored);
    if (numUpdatedRows !== 1n) return false;
    this.countEntered(change.state ?? state, change.state === undefined ? 0 : 1);
    return true;
  }

  /** Ends a run that holds no lane and has reserved nothing. */
  end(
    run: Pick<RunRecord, 'id' | 'state'>,
    change: RunChange & { state: RunState },
  ): Promise<boolean> {
    return this.change(run, { ...change, ended: this.clock.now().toISOString() });
  }

  /** Notes runs that came into a state otherwise than by `change`. */
  countEntered(state: RunState, runs: number): void {
    this.counts.add('runs', { state }, runs);
  }

  #all() {
    return this.database.kysely.selectFrom('automation_run').selectAll();
  }

  async #records(rows: Selectable<AutomationRunTable>[]): Promise<StoredRun[]> {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ automation }) => automation))];
    const known = new Map((await this.automations.list(ids)).map((each) => [each.id, each]));
    const older = rows.filter((row) => known.get(row.automation)?.version !== row.version);
    const definitions = await this.#definitionsOf(older);
    return rows.flatMap((row) => {
      const saved = known.get(row.automation);
      // That of a run whose automation and version are gone can be read by nobody any more.
      const definition = definitions.get(versionKey(row)) ?? saved?.definition;
      return definition ? recordOf(row, saved ?? removed(row, definition), definition) : [];
    });
  }

  /** By version; those that are not known yet are read all at once. */
  async #definitionsOf(rows: readonly VersionOfRun[]): Promise<Map<string, AutomationDefinition>> {
    const found = new Map<string, AutomationDefinition>();
    const unknown: VersionOfRun[] = [];
    for (const row of rows) {
      const known = this.#definitions.get(versionKey(row));
      if (known) found.set(versionKey(row), known);
      else unknown.push(row);
    }
    if (unknown.length === 0) return found;
    if (this.#definitions.size >= keptDefinitions) this.#definitions.clear();
    for (const { definition, ...version } of await this.automations.definitionsOf(unknown)) {
      this.#definitions.set(versionKey(version), definition);
      found.set(versionKey(version), definition);
    }
    return found;
  }
}

type VersionOfRun = Pick<AutomationRunTable, 'automation' | 'version'>;

const versionKey = ({ automation, version }: VersionOfRun): string => `${automation} ${version}`;

const columnsOf = ({
  findings,
  decisions,
  result,
  ...plain
}: RunChange): Updateable<AutomationRunTable> => ({
  ...plain,
  ...(findings && { findings: JSON.stringify(findings) }),
  ...(decisions && { decisions: JSON.stringify(decisions) }),
  ...(result && { result: JSON.stringify(result) }),
});

function recordOf(
  row: Selectable<AutomationRunTable>,
  automation: SavedAutomation,
  definition: AutomationDefinition,
): StoredRun {
  const { id, version, delivery, lane, subject, code, why, session, due } = row;
  return {
    id,
    version,
    delivery,
    lane,
    subject,
    code,
    why,
    session,
    due,
    automation,
    definition,
    occurrence: occurrence.parse(JSON.parse(row.occurrence)),
    eventKey: row.event_key,
    findings: runFindings.parse(JSON.parse(row.findings)),
    decisions: JSON.parse(row.decisions) as RunDecision[],
    state: row.state as RunState,
    reserved: Number(row.reserved),
    spent: Number(row.spent),
    result: row.result === null ? null : (JSON.parse(row.result) as PublishedResult),
    created: row.created,
    started: row.started,
    ended: row.ended,
  };
}

/** The automation of a run that stays after it: nothing of it begins any more. */
const removed = (
  { automation: id, version, created }: Selectable<AutomationRunTable>,
  definition: AutomationDefinition,
): SavedAutomation => ({
  id,
  name: definition.name,
  version,
  definition,
  created,
  updated: created,
  owner: '',
  state: 'paused',
  why: 'It was removed.',
  file: null,
  nextAt: null,
  lastAt: null,
});
