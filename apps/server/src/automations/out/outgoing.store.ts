import { Injectable } from '@nestjs/common';
import type { OutgoingItem, OutgoingKind } from '@belay/protocol';
import { Semaphore } from 'async-mutex';
import type { Selectable } from 'kysely';
import type { AutomationOutgoingTable } from '../../storage/automation-tables.js';
import { Database } from '../../storage/database.js';
import { whileLocked } from '../../storage/while-locked.js';
import { AutomationCounts } from '../automation-counts.js';
import { Clock } from '../clock.js';

export type OutgoingRow = Omit<Selectable<AutomationOutgoingTable>, 'kind'> & {
  kind: OutgoingKind;
};

/** Something that is to be sent. The same kind, target and `n` of a run are planned once. */
export interface PlannedItem {
  kind: OutgoingKind;
  /** `issue:12`, `pull:12` or `branch:NAME`. */
  target: string;
  n: number;
  /** As its sender reads it. */
  content: unknown;
  /** Why it is not sent, for what is refused at once. */
  refused?: string;
}

type Change = Partial<
  Pick<OutgoingRow, 'state' | 'remote_id' | 'url' | 'tries' | 'next_at' | 'why' | 'content'>
>;

/** Each takes one of the ten connections of a server, and its work needs more of them. */
const maxClaims = 3;

/** What runs send to git hosts: stored before it is sent, and what became of it. */
@Injectable()
export class OutgoingStore {
  readonly #claims = new Semaphore(maxClaims);

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly counts: AutomationCounts = new AutomationCounts(),
  ) {}

  /** All of a run, in the order in which they were planned. */
  async of(run: string): Promise<OutgoingRow[]> {
    const rows = await this.database.kysely
      .selectFrom('automation_outgoing')
      .selectAll()
      .where('run', '=', run)
      .orderBy('id')
      .execute();
    return rows as OutgoingRow[];
  }

  /** Does what no other server may do for this run at the same time; undefined if one is at it. */
  claimed<T>(run: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.#claims.runExclusive(() => whileLocked(this.database, `outgoing ${run}`, work));
  }

  /** In one transaction; those that are planned already stay as they are. */
  async plan(run: string, items: readonly PlannedItem[]): Promise<void> {
    if (items.length === 0) return;
    const at = this.clock.now().toISOString();
    const planned = await this.database.kysely.transaction().execute(async (connection) => {
      const { count } = await connection
        .selectFrom('automation_outgoing')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('run', '=', run)
        .executeTakeFirstOrThrow();
      const rows = items.map(({ kind, target, n, content, refused }, index) => ({
        // In order, as those of one time are not.
        id: `${run}.${String(Number(count) + index).padStart(4, '0')}`,
        run,
        kind,
        target,
        n,
        content: JSON.stringify(content),
        state: refused === undefined ? ('planned' as const) : ('refused' as const),
        why: refused ?? null,
        at,
      }));
      return connection
        .insertInto('automation_outgoing')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .returning(['kind', 'state'])
        .execute();
    });
    for (const { kind, state } of planned)
      this.counts.add('outgoing', { kind: kind as OutgoingKind, state });
  }

  async change(
    { id, kind, state: before }: Pick<OutgoingRow, 'id' | 'kind' | 'state'>,
    change: Change,
  ): Promise<void> {
    await this.database.kysely
      .updateTable('automation_outgoing')
      .set({ ...change, at: this.clock.now().toISOString() })
      .where('id', '=', id)
      .execute();
    const { state = before } = change;
    if (state !== before) this.counts.add('outgoing', { kind, state });
  }

  /** What earlier runs of an automation sent about a subject, the newest first. */
  async sentBefore(
    { automation, subject }: { automation: string; subject: string },
    kind: OutgoingKind,
  ): Promise<OutgoingRow[]> {
    const rows = await this.database.kysely
      .selectFrom('automation_outgoing')
      .innerJoin('automation_run', 'automation_run.id', 'automation_outgoing.run')
      .selectAll('automation_outgoing')
      .where('automation_run.automation', '=', automation)
      .where('automation_run.subject', '=', subject)
      .where('automation_outgoing.kind', '=', kind)
      .where('automation_outgoing.state', '=', 'sent')
      .orderBy('automation_outgoing.at', 'desc')
      .limit(mostLookedAt)
      .execute();
    return rows as OutgoingRow[];
  }
}

const mostLookedAt = 5;

export const shownItem = ({ kind, target, state, url, why, at }: OutgoingRow): OutgoingItem => ({
  kind,
  target,
  state,
  url,
  why,
  at,
});
