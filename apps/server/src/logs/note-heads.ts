import type { DatabaseConnection } from '../storage/database-schema.js';
import type { WrittenEvent } from './written-event.js';

/** Notes the head of a log at those of its new events that call for it. */
export async function noteHeads(
  connection: DatabaseConnection,
  session: string,
  rows: readonly WrittenEvent[],
): Promise<void> {
  const heads = rows.flatMap(({ values: [, seq, time], digest, noted }) =>
    noted && digest !== null
      ? [{ session, seq: Number(seq), time: String(time), head: digest, why: noted }]
      : [],
  );
  if (heads.length > 0) await connection.insertInto('log_head').values(heads).execute();
}
