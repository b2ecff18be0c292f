import { Injectable } from '@nestjs/common';
import {
  failedStart,
  keptSession,
  type Comparison,
  type FailedStart,
  type KeptSession,
} from '@belay/protocol';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import { Database, notStored } from '../storage/database.js';
import type { ComparisonTable } from '../storage/database-schema.js';

/** A comparison without its sessions; each session stores the id of its comparison. */
export type ComparisonRecord = Omit<Comparison, 'sessions'>;

@Injectable()
export class ComparisonStore {
  constructor(private readonly database: Database) {}

  /** Newest first. */
  async all(): Promise<ComparisonRecord[]> {
    await this.database.migrated();
    const rows = await this.database.kysely
      .selectFrom('comparison')
      .selectAll()
      .orderBy('id', 'desc')
      .execute();
    return rows.map(recordOf);
  }

  async find(id: string): Promise<ComparisonRecord | undefined> {
    await this.database.migrated();
    const row = await this.database.kysely
      .selectFrom('comparison')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && recordOf(row);
  }

  async insert({ id, created, task, check }: ComparisonRecord): Promise<void> {
    const row = { id, created, task, check_command: check, failed: '[]', kept: null };
    await this.database.kysely.insertInto('comparison').values(row).execute().catch(notStored);
  }

  async setFailed(id: string, failed: readonly FailedStart[]): Promise<void> {
    await this.#set(id, { failed: JSON.stringify(failed) });
  }

  async setKept(id: string, kept: KeptSession | null): Promise<void> {
    await this.#set(id, { kept: kept && JSON.stringify(kept) });
  }

  async remove(id: string): Promise<void> {
    await this.database.kysely.deleteFrom('comparison').where('id', '=', id).execute();
  }

  async #set(id: string, change: Partial<Pick<ComparisonTable, 'failed' | 'kept'>>): Promise<void> {
    await this.database.kysely
      .updateTable('comparison')
      .set(change)
      .where('id', '=', id)
      .execute()
      .catch(notStored);
  }
}

const failedStarts = z.array(failedStart).catch([]);
const kept = keptSession.nullable().catch(null);

function recordOf(row: Selectable<ComparisonTable>): ComparisonRecord {
  const { id, created, task, check_command: check } = row;
  return {
    id,
    created,
    task,
    check,
    failed: failedStarts.parse(read(row.failed)),
    kept: kept.parse(read(row.kept)),
  };
}

/** Unreadable content is treated as missing. */
function read(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
