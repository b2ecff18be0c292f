import { Injectable } from '@nestjs/common';
import { chainAlgorithm, chainFields, contentDigest } from '@belay/proof';
import type { hiddenLogRecord, StoredLogHead, StoredLogRecord } from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { z } from 'zod';
import { storedRows } from '../logs/chained-rows.js';
import { LogHeads, type LogHead } from '../logs/log-heads.js';
import { Database } from '../storage/database.js';
import type { EventTable } from '../storage/database-schema.js';

const rowsAtOnce = 500;

/** A log as it is stored, so that its chain can be followed. */
@Injectable()
export class StoredLog {
  constructor(
    private readonly database: Database,
    private readonly heads: LogHeads,
  ) {}

  /** Its end, then every event up to it, each as a line of JSON. A page is read once the one before was consumed. */
  async *lines(session: string, contents: 'shown' | 'hidden'): AsyncGenerator<string, void> {
    const head = await this.heads.head(session);
    yield lineOf({ algorithm: chainAlgorithm, ...head } satisfies StoredLogHead);
    const record = contents === 'shown' ? shownRecord : hiddenRecord;
    for await (const rows of this.pages(head))
      yield rows.map((row) => lineOf(record(row))).join('');
  }

  /** The rows up to this end, in pages. */
  async *pages({ session, seq }: LogHead): AsyncGenerator<Selectable<EventTable>[], void> {
    for (let after = 0; after < seq;) {
      const limit = Math.min(rowsAtOnce, seq - after);
      const rows = await storedRows(this.database.kysely, session, { after, limit });
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last.seq;
    }
  }
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

const shownRecord = ({ digest, ...row }: Selectable<EventTable>): StoredLogRecord => ({
  ...row,
  digest: digest ?? '',
});

const hiddenRecord = (row: Selectable<EventTable>): z.infer<typeof hiddenLogRecord> => ({
  seq: row.seq,
  content: contentDigest(chainFields.map((field) => row[field])),
  digest: row.digest ?? '',
});
