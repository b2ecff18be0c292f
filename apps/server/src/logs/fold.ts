import { isEvent, type Event, type NewEvent, type SessionSettings } from '@belay/protocol';
import { consequences } from './consequences.js';
import type { SessionRecord } from './session-record.js';
import type { Copied } from './sessions.store.js';
import { summaryAfter } from './session-summary.js';
import type { StoredEvent } from './written-event.js';

/** The start of a session’s log. */
export interface NewLog {
  copied?: Copied;
  events: NewEvent[];
  /** The comparison that the session is part of. */
  comparison?: string | null;
}

/** The events that an append stores, and the resulting session. */
export interface Draft {
  record: SessionRecord;
  events: StoredEvent[];
  /** The requested events, without their consequences. */
  asked: Event[];
}

/** Copies events from another log unchanged, including their consequences. */
export function takeOver(record: SessionRecord, copied: readonly Event[]): Draft {
  const events = copied.map((event) => ({ event, agent: null }));
  const summary = copied.reduce(summaryAfter, record.summary);
  return { record: { ...record, summary, lastSeq: summary.lastSeq }, events, asked: [] };
}

/**
 * Numbers new events and their consequences after those of the record, and folds them in. Pure except for the clock.
 */
export function fold(
  record: SessionRecord,
  added: readonly (NewEvent & { agent?: StoredEvent['agent'] })[],
): Draft {
  let { summary, settings } = record;
  const events: StoredEvent[] = [];
  const asked: Event[] = [];
  const take = ({ agent = null, ...body }: (typeof added)[number]): Event => {
    const time = body.time ?? new Date().toISOString();
    const event: Event = { ...body, seq: summary.lastSeq + 1, time };
    summary = summaryAfter(summary, event);
    settings = settingsAfter(settings, event);
    events.push({ event, agent });
    return event;
  };
  for (const body of added) {
    const event = take(body);
    asked.push(event);
    for (const consequence of consequences(event, summary)) take(consequence);
  }
  return {
    record: { ...record, summary, settings, lastSeq: summary.lastSeq },
    events,
    asked,
  };
}

function settingsAfter(settings: SessionSettings, event: Event): SessionSettings {
  if (isEvent(event, 'start')) {
    const { again: _, ...started } = event.args;
    return started;
  }
  if (isEvent(event, 'placed')) return { ...settings, machine: event.args.machine };
  if (!isEvent(event, 'change')) return settings;
  const { title, tags, approvals, budgets, model, egress } = event.args;
  return {
    ...settings,
    ...(title !== undefined && { title }),
    ...(tags && { tags }),
    ...(approvals && { approvals }),
    ...(budgets && { budgets }),
    ...(model !== undefined && { model }),
    ...(egress && { egress: { ...settings.egress, ...egress } }),
  };
}
