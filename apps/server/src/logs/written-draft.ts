import type { Draft } from './fold.js';
import type { SessionRecord } from './session-record.js';
import { writtenEvent, type WrittenEvent } from './written-event.js';

/** The rows of a draft, chained to those before them, and its record with the new head. */
export function writtenDraft({ record, events }: Draft): {
  record: SessionRecord;
  rows: WrittenEvent[];
} {
  let { head } = record;
  const rows = events.map((event) => {
    const row = writtenEvent(record.id, event, head);
    head = row.digest;
    return row;
  });
  return { record: { ...record, head }, rows };
}
