import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { occurrence, type DeliveryRow, type Occurrence, type PageQuery } from '@belay/protocol';
import type { Selectable } from 'kysely';
import { Database, notStored } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import type { AutomationDeliveryTable } from '../../storage/automation-tables.js';
import { exclusively } from '../../storage/exclusively.js';
import { AutomationCounts } from '../automation-counts.js';
import { Clock } from '../clock.js';
import { nearKeys } from '../runs/near-keys.js';

type Row = Selectable<AutomationDeliveryTable>;

/** Something that was learned of. */
export interface NewDelivery {
  /** The id of a followed repository, or of an automation. */
  readonly source: string;
  readonly transport: DeliveryRow['transport'];
  /** The sender’s own id of it: what comes twice is taken once. */
  readonly delivery: string;
  /** What the sender calls it, for people. */
  readonly event: string;
  readonly bodySha256?: string | undefined;
  readonly occurrence?: Occurrence | undefined;
  /** Whether the occurrence only says what to ask the host, so that its key is not known yet. */
  readonly asks?: boolean | undefined;
  /** Why it begins nothing. */
  readonly ignored?: string | undefined;
  /** Why it could not be read. */
  readonly refused?: string | undefined;
}

/** A stored delivery that is not done yet. */
export interface OpenDelivery {
  readonly id: string;
  readonly source: string;
  readonly transport: DeliveryRow['transport'];
  readonly delivery: string;
  readonly event: string;
  readonly occurrence: Occurrence;
  readonly asks: boolean;
}

interface InsertedDelivery {
  id: string;
  state: DeliveryState;
  open?: OpenDelivery | undefined;
}

export type DeliveryState = DeliveryRow['state'];

const keptMs = 90 * 86_400_000;
const usualPage = 100;
const maxEvent = 100;
const maxId = 200;
const maxWhy = 500;

/** The table of deliveries: one row for each source, transport and delivery id. */
@Injectable()
export class DeliveryRows {
  #lastTime = 0;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly counts: AutomationCounts = new AutomationCounts(),
  ) {}

  /** Inserts it once. `open` is what has to be done, also for one that an earlier server did not finish. */
  async insert(given: NewDelivery): Promise<InsertedDelivery> {
    const row = this.#rowOf(given);
    const inserted = await this.#insert(row);
    this.counts.add('deliveries', { transport: row.transport, state: inserted.state });
    return inserted;
  }

  #insert(row: Row): Promise<InsertedDelivery> {
    return exclusively(this.database, 'automation_delivery', async (connection) => {
      const before = await connection
        .selectFrom('automation_delivery')
        .selectAll()
        .where('source', '=', row.source)
        .where('transport', '=', row.transport)
        .where('delivery', '=', row.delivery)
        .executeTakeFirst();
      if (before)
        return {
          id: before.id,
          state: 'duplicate',
          ...(before.state === 'received' && { open: openOf(before) }),
        };
      const twin = await twinOf(connection, row);
      const stored: Row = twin
        ? { ...row, state: 'duplicate', why: `It was learned of already, by ${twin.transport}.` }
        : row;
      await connection.insertInto('automation_delivery').values(stored).execute();
      const { id, state } = stored;
      return { id, state, ...(state === 'received' && { open: openOf(stored) }) };
    });
  }

  /** Puts the occurrence that was found by asking in place of the question. False if it is known already. */
  async answer(id: string, found: Occurrence): Promise<boolean> {
    const isNew = await exclusively(this.database, 'automation_delivery', async (connection) => {
      const row = await connection
        .selectFrom('automation_delivery')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      if (row?.state !== 'received') return false;
      const twin = await twinOf(connection, { ...row, event_key: found.key });
      await connection
        .updateTable('automation_delivery')
        .set({
          occurrence: JSON.stringify(found),
          ...(twin
            ? { state: 'duplicate', why: `It was learned of already, by ${twin.transport}.` }
            : { event_key: found.key }),
        })
        .where('id', '=', id)
        .execute();
      return !twin;
    });
    if (!isNew) await this.#count(id);
    return isNew;
  }

  /**
   * Changes only what is not done yet: another server may have been faster. Without runs it is ignored at last, unless
   * something else came of it.
   */
  async finish(id: string, state: DeliveryState, why: string | null): Promise<void> {
    await this.database.kysely
      .updateTable('automation_delivery')
      .set({ state, why: why === null ? null : oneLine(why, maxWhy) })
      .where('id', '=', id)
      .where(({ or, and, eb }) =>
        or([
          eb('state', '=', 'received'),
          ...(state === 'ignored' ? [and([eb('state', '=', 'done'), eb('why', 'is', null)])] : []),
        ]),
      )
      .execute()
      .catch(notStored);
    await this.#count(id);
  }

  /** What is not done yet, in the order in which it came. */
  async open(): Promise<OpenDelivery[]> {
    await this.database.migrated();
    const rows = await this.database.kysely
      .selectFrom('automation_delivery')
      .selectAll()
      .where('state', '=', 'received')
      .orderBy('id')
      .limit(10_000)
      .execute();
    return rows.flatMap((row) => openOf(row) ?? []);
  }

  async occurrenceOf(id: string): Promise<Occurrence | undefined> {
    const row = await this.database.kysely
      .selectFrom('automation_delivery')
      .select('occurrence')
      .where('id', '=', id)
      .executeTakeFirst();
    return parsed(row?.occurrence ?? null);
  }

  /** Whether the occurrence is stored, however it was learned of. */
  async knows(source: string, key: string): Promise<boolean> {
    const found = await this.database.kysely
      .selectFrom('automation_delivery')
      .select('id')
      .where('source', '=', source)
      .where('event_key', 'in', nearKeys(key))
      .executeTakeFirst();
    return found !== undefined;
  }

  /** The ids of the runs of these deliveries, by delivery. */
  async runsOf(deliveries: readonly string[], automation?: string): Promise<Map<string, string[]>> {
    const runs = new Map<string, string[]>();
    if (deliveries.length === 0) return runs;
    let query = this.database.kysely
      .selectFrom('automation_run')
      .select(['id', 'delivery'])
      .where('delivery', 'in', deliveries)
      .orderBy('id');
    if (automation !== undefined) query = query.where('automation', '=', automation);
    for (const { id, delivery } of await query.execute())
      if (delivery !== null) runs.set(delivery, [...(runs.get(delivery) ?? []), id]);
    return runs;
  }

  /** Newest first, and one more than the limit if there are more. The runs are those of the automation. */
  async page(
    sources: readonly string[],
    automation: string,
    { limit = usualPage, after }: PageQuery,
  ): Promise<DeliveryRow[]> {
    let query = this.database.kysely
      .selectFrom('automation_delivery')
      .selectAll()
      .where('source', 'in', sources)
      .orderBy('id', 'desc')
      .limit(limit + 1);
    if (after !== undefined) query = query.where('id', '<', after);
    const rows = await query.execute();
    const runs = await this.runsOf(
      rows.map(({ id }) => id),
      automation,
    );
    return rows.map(({ id, transport, event, at, state, why }) => ({
      id,
      transport,
      event,
      at,
      state,
      why,
      runs: runs.get(id) ?? [],
    }));
  }

  async removeOld(): Promise<void> {
    await this.database.migrated();
    const oldest = new Date(this.clock.now().getTime() - keptMs).toISOString();
    await this.database.kysely
      .deleteFrom('automation_delivery')
      .where('at', '<', oldest)
      .where('state', '<>', 'received')
      .execute()
      .catch(notStored);
  }

  /** Counts what became of a delivery, however it came about. */
  async #count(id: string): Promise<void> {
    const row = await this.database.kysely
      .selectFrom('automation_delivery')
      .select(['transport', 'state'])
      .where('id', '=', id)
      .executeTakeFirst();
    if (row && row.state !== 'received') this.counts.add('deliveries', row);
  }

  #rowOf(given: NewDelivery): Row {
    const { source, transport, event, occurrence: found, asks = false } = given;
    const state = given.refused !== undefined ? 'refused' : found ? 'received' : 'ignored';
    const why = given.refused ?? given.ignored ?? (found ? null : 'It says nothing to act on.');
    return {
      id: this.#newId(),
      source,
      transport,
      delivery: oneLine(given.delivery, maxId),
      event: oneLine(event, maxEvent),
      event_key: found && !asks ? found.key : null,
      at: this.clock.now().toISOString(),
      body_sha256: given.bodySha256 ?? null,
      occurrence: found ? JSON.stringify(found) : null,
      state: given.ignored !== undefined && state === 'received' ? 'ignored' : state,
      why: why === null ? null : oneLine(why, maxWhy),
    };
  }

  /** Sorts by time, also within a millisecond. */
  #newId(): string {
    this.#lastTime = Math.max(this.clock.now().getTime(), this.#lastTime + 1);
    return `${this.#lastTime.toString(36).padStart(9, '0')}-${randomUUID().slice(0, 8)}`;
  }
}

/** The row of the same thing: by any transport for what has an id, near in time for what has none. */
async function twinOf(
  connection: DatabaseConnection,
  { id, source, transport, event_key: key }: Row,
): Promise<Pick<Row, 'transport'> | undefined> {
  if (key === null) return undefined;
  const rows = await connection
    .selectFrom('automation_delivery')
    .select(['transport', 'event_key'])
    .where('source', '=', source)
    .where('event_key', 'in', nearKeys(key))
    .where('state', '<>', 'duplicate')
    .where('id', '<>', id)
    .execute();
  return rows.find((each) => each.event_key === key || each.transport !== transport);
}

function openOf(row: Row): OpenDelivery | undefined {
  const { id, source, transport, delivery, event, event_key: key } = row;
  const found = parsed(row.occurrence);
  return found && { id, source, transport, delivery, event, occurrence: found, asks: key === null };
}

function parsed(text: string | null): Occurrence | undefined {
  return text === null ? undefined : occurrence.safeParse(JSON.parse(text)).data;
}

/** PostgreSQL stores no NUL, and control characters would affect a reader’s terminal. */
const oneLine = (text: string, most: number): string =>
  text
    .slice(0, most)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
