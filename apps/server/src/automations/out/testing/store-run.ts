import type { Database } from '../../../storage/database.js';
import type { RunRecord } from '../../run-record.js';

/** Stores a run that has ended, so that later ones about the same find what it sent. */
export async function storeRun(
  { kysely }: Database,
  { id, automation, version, lane, subject, created }: RunRecord,
): Promise<void> {
  const texts = { event: 'issue.labelled', event_key: id, occurrence: '{}', findings: '{}' };
  const run = { id, automation: automation.id, version, lane, subject, created, due: created };
  await kysely
    .insertInto('automation_run')
    .values({ ...run, ...texts, decisions: '[]', state: 'done' })
    .execute();
}
